// One row of the sequence diagram: what passes between client, agent and model, and what lasts meanwhile.

// So much of a line is shown in its row.
const WIRE = 300;

const ARROWS = {
  'client to agent': 'client-agent',
  'agent to client': 'agent-client',
  'agent to model': 'agent-model',
  'model to agent': 'model-agent',
};

/** The cell of a row with its lanes. */
function lanesCell(row, trace) {
  const cell = make('span', { class: 'lanes', 'aria-hidden': 'true' });
  for (const lane of ['client', 'agent', ...(trace.joins.hasModel ? ['model'] : [])]) {
    cell.append(make('span', { class: `life at-${lane}` }));
  }
  for (const span of trace.joins.around(row.from, row.to)) drawSpan(cell, span, row);
  if (row.gap !== undefined) {
    cell.classList.add('pause');
    cell.append(make('span', { class: 'gap' }, duration(row.gap)));
  } else drawEvent(cell, row);
  return cell;
}

function drawSpan(cell, span, row) {
  const within = row.gap === undefined ? span.from <= row.to && span.to >= row.from : span.from <= row.from && span.to >= row.to;
  if (!within) return;
  const begins = row.gap === undefined && span.from >= row.from && !row.open;
  const ends = row.gap === undefined && span.to <= row.to && !span.open;
  const bar = make('span', {
    class: `span ${span.kind} at-${span.lane}${begins ? ' begins' : ''}${ends ? ' ends' : ''}${span.open ? ' unended' : ''}`,
  });
  bar.style.setProperty('--place', span.place);
  cell.append(bar);
}

function drawEvent(cell, row) {
  const event = row.event ?? row.group[0];
  const arrow = ARROWS[way(event)];
  const words = make('span', { class: 'words' });
  if (row.group) {
    const text = row.group.map((one) => one.text).join('');
    put(words, event.label === 'chunk' ? '' : `${event.label} `);
    words.append(make('span', { class: 'times' }, `×${row.group.length}`), ' ', make('span', { class: 'aside' }, quoted(cut(text, 160))));
  } else {
    put(words, event.label || event.method || '');
    if (event.detail) words.append(' ', make('span', { class: 'aside' }, event.detail));
  }
  if (!arrow) {
    const lane = event.from === 'client' ? 'client' : 'agent';
    const place = event.kind === 'harness' || event.kind === 'other' || event.kind === 'damage' ? 'across' : `beside at-${lane}`;
    cell.append(make('span', { class: `note ${place} ${event.kind}${event.bad ? ' bad' : ''}` }, words));
    return;
  }
  const looks = [];
  if (event.kind === 'answer' || event.kind === 'error' || event.kind === 'status' || event.kind === 'done') looks.push('back');
  if (event.kind === 'error' || event.bad || event.kind === 'odd' || event.kind === 'line') looks.push('bad');
  if (event.kind === 'chunk') looks.push('piece');
  if (event.stray) looks.push('stray');
  cell.append(make('span', { class: `arrow ${arrow} ${looks.join(' ')}` }, words));
}

/** The whole row, as an option of the list. */
function logRow(row, index, total, view) {
  const event = row.event ?? row.group?.[0];
  const marks = row.gap === undefined ? view.marksOf(row) : [];
  const failed = marks.some((mark) => mark.failed);
  const noted = marks.some((mark) => mark.difference) && !failed;
  const option = make('div', {
    class: ['row', row.gap !== undefined && 'is-gap', row.inside && 'inside', failed && 'failed', noted && 'noted',
      event?.probe !== undefined && 'probe'].filter(Boolean).join(' '),
    role: 'option',
    id: `row-${index}`,
    'aria-setsize': total,
    'aria-posinset': index + 1,
    'aria-selected': 'false',
  });
  // The words say it all; the cells are for the eye.
  const number = make('span', { class: 'number', 'aria-hidden': 'true' });
  const time = make('span', { class: 'time', 'aria-hidden': 'true' });
  const wire = make('span', { class: 'wire', 'aria-hidden': 'true' });
  if (row.gap === undefined) {
    if (failed) number.append(make('span', { class: 'sign' }, '✕'));
    else if (marks.length > 0) number.append(make('span', { class: 'sign' }, noted ? '±' : 'i'));
    number.append(String(event.number));
    time.textContent = event.at.toFixed(3);
    if (row.group) {
      wire.append(make('span', { class: 'fold' }, row.open ? '▾' : '▸'), ` ${count(row.group.length, 'message')}`);
    } else put(wire, wireText(view.trace, event));
  } else time.textContent = `+${duration(row.gap)}`;
  option.append(make('span', { class: 'unseen' }, label(row, marks)), number, time, lanesCell(row, view.trace), wire);
  return option;
}

function label(row, marks) {
  if (row.gap !== undefined) return `nothing for ${duration(row.gap)}`;
  const found = marks.map((mark) => (mark.requirement ? `, ${mark.failed ? 'fails' : 'note on'} ${mark.requirement.id}` : ', differs')).join('');
  if (!row.group) return `${spoken(row.event)}${found}`;
  const text = visible(cut(row.group.map((one) => one.text).join(''), 200));
  return `${row.group.length} chunks from event ${row.from} to ${row.to}, ${way(row.group[0])}, ${row.group[0].label}, ${text}`;
}

/** The start of what stood on the wire, exactly. */
function wireText(trace, event) {
  const line = trace.line(event);
  // The recorder writes `at` and `from` first; what is wire begins behind the name of the member.
  const match = /^\{"at":[-\d.e+]+,"from":"\w+",(?:"exchange":\d+,)?(?:"(?:message|line|stderr|base64|chunk|request)":)?/.exec(line);
  if (!match) return cut(line, WIRE);
  const rest = line.slice(match[0].length, match[0].length + WIRE + 1);
  return rest.length > WIRE ? cut(rest, WIRE) : rest.slice(0, -1);
}
