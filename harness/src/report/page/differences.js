// The view of the differences between a recording and its replay, or between two recordings.

function showDifferences(place, given) {
  const wanted = Number(given.difference);
  const classes = ['breaking', 'behaviour', 'text', 'timing'];
  const sorted = [...DIFFERENCES].sort((one, other) => classes.indexOf(one.class) - classes.indexOf(other.class));
  const groups = Map.groupBy ? Map.groupBy(sorted, (one) => one.recording ?? '') : grouped(sorted);
  const omitted = Number(REPORT.differences_omitted) || 0;
  fill(place, heading('Differences'),
    make('p', { class: 'about' }, `${count(DIFFERENCES.length + omitted, 'difference')}${omitted ? `, of which ${DIFFERENCES.length} are in the report` : ''}. Breaking: a requirement is newly violated. Behaviour: a message appears, vanishes, moves or changes where it carries meaning.`),
    ...[...groups].map(([recording, all]) => make('section', { class: 'block' },
      recording && make('h2', {}, recordingOf(recording)?.name ?? recording), manyOf(all.map((one) => differenceCard(one)), Math.max(200, wanted || 0)))),
    ...REPLAYS.flatMap((one) => list(one.notes).map((note) => make('p', { class: 'hint' }, ...prose(note)))));
  const chosen = document.getElementById(`difference-${wanted}`);
  chosen?.scrollIntoView({ block: 'center' });
  chosen?.focus();
}

function grouped(all) {
  const groups = new Map();
  for (const one of all) groups.set(one.recording ?? '', [...(groups.get(one.recording ?? '') ?? []), one]);
  return groups;
}

function differenceCard(one) {
  const { left, right } = sidesOf(one);
  const often = one.of > 1 ? make('p', { class: 'hint' }, `in ${one.runs} of ${one.of} replays`) : null;
  return make('article', { class: `card difference ${one.class}`, id: `difference-${one.number}`, tabindex: '-1', 'aria-labelledby': `difference-title-${one.number}` },
    make('h3', { id: `difference-title-${one.number}` }, make('span', { class: `class ${one.class}` }, one.class), ' ', one.change, ' · ', make('span', { class: 'place' }, one.place)),
    make('p', {}, ...prose(one.message)),
    one.requirements?.length > 0 && make('p', {}, 'Violates ', one.requirements.flatMap((id) => [make('a', { href: `#${id}` }, id), ' '])),
    make('div', { class: 'sides' },
      sideView('Recording', '−', one.left, one.right, left, one.left_event),
      sideView(REPLAYS.length > 0 ? 'Replay' : 'Other recording', '+', one.right, one.left, right, one.right_event)),
    surroundings(one), often);
}

/** One side of a difference, with what differs from the other marked. */
function sideView(title, sign, value, other, recording, event) {
  const way = recording?.element && Number.isInteger(event)
    ? make('a', { class: 'go', href: `#trace=${hashPart(recording.name)}&event=${event}` }, `event ${event}`)
    : Number.isInteger(event) && `event ${event}`;
  const box = make('div', { class: 'value', tabindex: '0', role: 'group', 'aria-label': `${title}, difference` });
  if (typeof value === 'string') box.append(...changedPart(value, typeof other === 'string' ? other : undefined));
  else box.append(make('span', { class: 'none' }, 'nothing'));
  return make('div', { class: `side ${sign === '+' ? 'right' : 'left'}` },
    make('p', { class: 'side-head' }, make('span', { class: 'sign', 'aria-hidden': 'true' }, sign), ` ${title} `, way), box);
}

/** A value with the part that differs from the other one marked: what both begin and end with is plain. */
function changedPart(value, other) {
  const own = cut(value, 4000);
  if (other === undefined) return [make('mark', {}, own)];
  let start = 0;
  while (start < own.length && own[start] === other[start]) start += 1;
  let end = 0;
  while (end < own.length - start && end < other.length - start && own.at(-1 - end) === other.at(-1 - end)) end += 1;
  const middle = own.slice(start, own.length - end);
  return [make('span', {}, own.slice(0, start)), make('mark', {}, middle), make('span', {}, own.slice(own.length - end))];
}

function surroundings(one) {
  const before = list(one.before);
  const after = list(one.after);
  if (before.length + after.length === 0) return null;
  const line = (words) => make('li', {}, words);
  return make('details', {}, make('summary', {}, 'What stands around it'),
    make('ul', { class: 'plain-list' }, before.map(line), make('li', {}, make('strong', {}, 'here')), after.map(line)));
}
