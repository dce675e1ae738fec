// The view of one recording: the sequence diagram with the wire log beside it, and the event that is chosen.

const view = {
  trace: undefined,
  rows: [],
  choice: new Choice(),
  opened: new Set(),
  marks: new Map(),
  marksOf(row) { return row.event ? this.marks.get(row.event.number) ?? [] : []; },
};
// The recordings that were opened last, ready to be shown again.
const opened = new Map();
const KEPT = 4;

/** Opens a recording, and chooses an event of it. */
async function showRecording(place, name, wanted) {
  const recording = recordingOf(name);
  if (!recording) {
    fill(place, heading('There is no such recording'), make('p', {}, 'This report has no recording ', make('code', {}, name), '.'));
    return;
  }
  if (view.trace?.recording === recording && place.contains(view.log?.box)) {
    if (Number.isInteger(wanted)) goTo(wanted);
    return;
  }
  const token = {};
  view.token = token;
  Object.assign(view, { trace: undefined, rows: [], choice: new Choice(), opened: new Set(), marks: marksIn(recording) });
  frame(place, recording);
  if (!recording.element) return;
  try {
    let trace = opened.get(recording);
    if (!trace) {
      trace = new Trace(recording, await unpacked(recording));
      if (view.token !== token) return;
      opened.set(recording, trace);
      if (opened.size > KEPT) opened.delete(opened.keys().next().value);
    }
    view.trace = trace;
    let chosen = false;
    const firstEvent = Number.isInteger(wanted) ? wanted : [...view.marks.keys()].find((number) => view.marks.get(number).some((mark) => mark.failed)) ?? 0;
    await trace.readAll((whole) => {
      if (view.token !== token) return;
      // Long recordings are shown from the first slice on; the rows are made twice, not with each slice.
      if (whole || view.rows.length === 0) update();
      if (!chosen && (whole || trace.events.length > firstEvent)) {
        chosen = true;
        if (firstEvent >= trace.events.length) announce(`There is no event ${firstEvent}: the recording has ${trace.events.length}`);
        goTo(Math.min(firstEvent, trace.events.length - 1), false);
        // Where picture and event stand below each other, the picture is what was asked for.
        if (Number.isInteger(wanted)) view.picture.scrollIntoView({ block: 'nearest' });
      } else if (whole && view.log.current >= 0) goTo(view.shown, false);
    });
    if (view.token === token) ready();
  } catch (error) {
    if (view.token === token) failed(error);
  }
}

function failed(error) {
  view.status.textContent = 'This recording cannot be shown: ';
  put(view.status, error.message);
}

/** The findings and differences of a recording by the events that they point at. */
function marksIn(recording) {
  const marks = new Map();
  const add = (number, mark) => {
    if (Number.isInteger(number)) marks.set(number, [...(marks.get(number) ?? []), mark]);
  };
  for (const found of findingsIn(recording)) add(found.finding.event, found);
  for (const { difference, event } of differencesIn(recording)) add(event, { difference, failed: difference.class === 'breaking' });
  return marks;
}

/** The parts of the view, before anything is read. */
function frame(place, recording) {
  const scenario = SCENARIOS.find((one) => one.recording === recording);
  const findings = findingsIn(recording).filter((found) => found.failed);
  view.status = make('p', { class: 'status', role: 'status' }, recording.element ? 'Reading …' : `It is not in this page: ${recording.left_out}`);
  view.detail = make('section', { class: 'detail', 'aria-label': 'Chosen event', tabindex: '-1' });
  const box = make('div', { class: 'log', role: 'listbox', tabindex: '0', 'aria-label': 'Events', id: 'log' });
  const heads = make('div', { class: 'row heads', 'aria-hidden': 'true' },
    make('span', { class: 'number' }, '#'), make('span', { class: 'time' }, 'seconds'),
    make('span', { class: 'lanes' }, ...['client', 'agent', 'model'].map((lane) => make('span', { class: `lane-name at-${lane}` }, lane))),
    make('span', { class: 'wire' }, 'on the wire'));
  view.picture = make('div', { class: 'picture' }, heads, box);
  fill(place, 
    make('div', { class: 'recording-head' },
      make('p', { class: 'trail' }, SCENARIOS.length > 0 && make('a', { href: '#scenarios' }, IS_RUN ? 'Scenarios' : 'Recordings')),
      heading(recording.name), make('p', { class: 'about' }, scenario?.title || recording.about || ''),
      scenario?.status && make('p', { class: 'facts' }, stateMark(scenario.status), ` in ${duration(scenario.seconds)}`),
      ...(findings.length > 0 ? [] : scenario?.why ?? []).map((why) => make('p', { class: 'why' }, ...prose(why))),
      findings.length > 0 && jumpList(findings, recording)),
    toolbar(), make('div', { class: 'stage' }, view.picture, view.detail));
  view.log = new Log(box, (index) => logRow(view.rows[index], index, view.rows.length, view), chosen);
  view.log.onfold = (index) => fold(index);
  view.log.onkey = logKey;
}

/** The failures, as the way to their events. */
function jumpList(findings, recording) {
  const shown = findings.slice(0, 12);
  const items = shown.map(({ requirement, finding }) => {
    const event = Number.isInteger(finding.event);
    const words = make(event ? 'a' : 'span', event ? { href: `#trace=${hashPart(recording.name)}&event=${finding.event}` } : {},
      `${requirement.id}${event ? ` · event ${finding.event}` : ''}`);
    return make('li', {}, make('span', { class: 'sign fail', 'aria-hidden': 'true' }, '✕'), words, ' ', ...prose(cut(finding.message, 200)));
  });
  if (findings.length > shown.length) items.push(make('li', { class: 'hint' }, `and ${findings.length - shown.length} more`));
  return make('ul', { class: 'jumps', 'aria-label': 'Failures' }, items);
}

function toolbar() {
  const filter = make('input', {
    type: 'search', id: 'filter', placeholder: 'Filter events', 'aria-label': 'Filter events', autocomplete: 'off', spellcheck: 'false',
    oninput: () => { view.choice.words = filter.value.trim(); later(); },
    onkeydown: (event) => { if (event.key === 'Enter') { event.preventDefault(); update(); view.log.choose(0); view.log.box.focus(); } },
  });
  const toggle = (name, words, on) => {
    const button = make('button', {
      type: 'button', class: 'toggle', 'aria-pressed': String(on), id: `show-${name}`,
      onclick: () => {
        view.choice[name] = !view.choice[name];
        button.setAttribute('aria-pressed', String(view.choice[name]));
        update();
      },
    }, words);
    return button;
  };
  view.sessions = make('select', { 'aria-label': 'Session', hidden: true, onchange: () => { view.choice.session = view.sessions.value; update(); } });
  return make('div', { class: 'toolbar', role: 'group', 'aria-label': 'What is shown' }, filter, view.sessions,
    toggle('model', 'Model', true), toggle('stderr', 'stderr', true), toggle('grouped', 'Join chunks', true),
    view.marks.size > 0 && toggle('findings', 'Marked only', false), view.status);
}

function later() {
  clearTimeout(view.timer);
  view.timer = setTimeout(update, 120);
}

/** Makes the rows anew, after another choice or more of the recording. */
function update() {
  if (!view.trace) return;
  const { shown } = view;
  view.rows = rowsOf(view.trace, view.choice, view.opened, view.marks);
  view.picture.classList.toggle('no-model', !view.trace.joins.hasModel);
  view.log.current = -1;
  view.log.take(view.rows.length);
  if (shown !== undefined) {
    const index = rowOf(view.rows, shown);
    if (index >= 0) view.log.choose(index, false);
  }
  say();
}

function say() {
  const all = view.trace.events.length;
  const seen = view.rows.reduce((sum, row) => sum + (row.gap !== undefined || row.inside ? 0 : row.group?.length ?? 1), 0);
  view.status.textContent = seen === all ? count(all, 'event') : `${seen.toLocaleString('en')} of ${count(all, 'event')}`;
}

/** When all is read: what only the whole shows. */
function ready() {
  const { sessions } = view.trace;
  if (sessions.size > 1) {
    view.sessions.replaceChildren(make('option', { value: '' }, 'all sessions'),
      ...[...sessions].slice(0, 500).map(([id, number]) => make('option', { value: id }, `session ${number}: ${cut(id, 30)}`)));
    view.sessions.hidden = false;
  }
  if (view.trace.recording.cut) view.status.append(' · ', make('strong', {}, view.trace.recording.cut));
  performance.mark('ready');
  document.body.dataset.ready = view.trace.recording.name;
}

/** Shows an event, opening what hides it. */
function goTo(number, byHand = true) {
  let index = rowOf(view.rows, number);
  if (index < 0 && view.choice.narrows) {
    Object.assign(view.choice, { words: '', session: '', findings: false, model: true, stderr: true });
    document.getElementById('filter').value = '';
    update();
    index = rowOf(view.rows, number);
  }
  if (index < 0) {
    announce(`There is no event ${number} in what is shown`);
    return;
  }
  const row = view.rows[index];
  if (row.group && row.from !== number && !row.open) {
    view.opened.add(row.from);
    view.shown = number;
    update();
    index = rowOf(view.rows, number);
  }
  view.log.choose(index, byHand);
}

function chosen(index, byHand) {
  const row = view.rows[index];
  if (row.gap !== undefined) return;
  view.shown = row.from;
  // Many rows may pass while a key is held down: one is shown a frame.
  cancelAnimationFrame(view.frame);
  view.frame = requestAnimationFrame(() => {
    if (view.rows[index] !== row) return;
    showDetail(view.detail, view, row, goTo);
    highlight(row);
  });
  if (byHand) keepAddress(`#trace=${hashPart(view.trace.recording.name)}&event=${row.from}`);
}

/** Shows in the picture what the chosen event is joined to. */
function highlight(row) {
  const other = row.event?.joined;
  for (const [index, drawn] of view.log.drawn) {
    const one = view.rows[index];
    drawn.classList.toggle('joined', other !== undefined && one?.event?.number === other);
  }
}

function fold(index, wanted) {
  const row = view.rows[index];
  if (!row?.group || wanted === row.open) return;
  if (row.open) view.opened.delete(row.from);
  else view.opened.add(row.from);
  update();
}

function logKey(event, index) {
  const row = view.rows[index];
  const step = { n: 1, p: -1 }[event.key];
  if (event.key === 'ArrowRight') fold(index, true);
  else if (event.key === 'ArrowLeft') {
    // From within an opened row its head is closed, which then stands for the event.
    fold(row?.inside ? view.rows.findLastIndex((one, at) => at < index && one.group) : index, false);
  } else if (event.key === 'Enter') view.detail.focus();
  else if (step) {
    const numbers = [...view.marks.keys()].sort((one, other) => one - other);
    const here = row?.from ?? 0;
    const to = step > 0 ? numbers.find((number) => number > here) : numbers.findLast((number) => number < here);
    if (to === undefined) announce('No further finding');
    else goTo(to);
  } else return;
  event.preventDefault();
}
