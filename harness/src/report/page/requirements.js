// The view of the requirements: all of them in a list, and the chosen one in full.

function showRequirements(place, given) {
  const chosen = REQUIREMENT.get(given.id);
  const entries = REQUIREMENTS.map((one) => ({
    name: one.id,
    text: `${one.id} ${one.level} ${one.status} ${one.statement} ${one.check ?? ''}`,
    tests: { level: one.level, state: one.status, area: one.area },
    draw: () => make('a', { href: `#${one.id}`, class: 'entry', 'aria-current': one === chosen && 'true' },
      stateMark(one.status, one.known ? 'known' : undefined),
      make('span', { class: 'entry-head' }, make('strong', {}, one.id), levelMark(one.level)),
      make('span', { class: 'entry-text' }, ...prose(one.statement))),
  }));
  const chips = [
    { name: 'level', title: 'Level', values: LEVELS },
    { name: 'state', title: 'State', values: STATES },
    { name: 'area', title: 'Area', values: [...new Set(REQUIREMENTS.map((one) => one.area))] },
  ];
  const box = filteredList('Requirements', entries, chips, given);
  fill(place, make('div', { class: chosen ? 'split with-chosen' : 'split' },
    make('div', { class: 'split-list' }, chosen ? make('h2', { class: 'unseen' }, 'Requirements') : heading('Requirements'), box),
    chosen ? requirementArticle(chosen) : null));
  const here = box.querySelector('[aria-current]');
  const entriesBox = box.querySelector('.entries');
  // The list alone is scrolled, not the page.
  if (here) entriesBox.scrollTop = here.offsetTop - entriesBox.offsetTop - entriesBox.clientHeight / 3;
}

function requirementArticle(one) {
  const index = REQUIREMENTS.indexOf(one);
  const neighbour = (other, words) => (other ? make('a', { href: `#${other.id}` }, words, ' ', other.id) : null);
  const evidence = recordingOf(one.shown?.trace);
  return make('article', { class: 'requirement' },
    make('p', { class: 'trail' }, make('a', { href: '#requirements' }, 'Requirements'),
      make('button', { type: 'button', class: 'small', onclick: (event) => copy(event.currentTarget, addressOf(`#${one.id}`)) }, 'Copy link')),
    heading(one.id),
    make('p', { class: 'facts' }, stateMark(one.status), ' ', levelMark(one.level), one.known ? ' known' : ''),
    make('p', { class: 'statement large' }, ...prose(one.statement)),
    citations(one),
    one.reason && make('p', {}, 'Known: ', ...prose(one.reason)),
    one.findings.length > 0 && part('What failed', manyOf(one.findings.map((finding) => findingLine(finding, one)))),
    one.why.length > 0 && part('Why', make('ul', {}, one.why.map((why) => make('li', {}, ...prose(why))))),
    one.notes.length > 0 && part('What was noted', manyOf(one.notes.map((finding) => findingLine(finding)))),
    evidence && part('Evidence', make('p', {}, evidence.element
      ? make('a', { class: 'go', href: `#trace=${hashPart(evidence.name)}` }, `Recording ${evidence.name}`)
      : `Recording ${evidence.name}`)),
    part('How it is judged', make('dl', { class: 'pairs' },
      ...pair('Level', LEVEL_MEANS[one.level]), ...pair('Basis', BASIS_MEANS[one.basis]),
      ...pair('Applies', one.when ? make('code', {}, one.when) : 'always'), ...pair('Check', make('span', {}, ...prose(one.check ?? ''))),
      ...pair('Judged', one.passive ? 'in all traffic, by a rule' : 'by its scenarios'),
      ...(one.sharpens ? pair('Sharpens', make('a', { href: `#${one.sharpens}` }, one.sharpens)) : []))),
    part('Scenarios', scenariosOf(one)),
    make('nav', { class: 'neighbours', 'aria-label': 'Neighbours' }, neighbour(REQUIREMENTS[index - 1], '←'), neighbour(REQUIREMENTS[index + 1], '→')));
}

const LEVEL_MEANS = {
  must: 'an agent in which it fails does not conform',
  should: 'advice, which never changes the verdict',
  interop: 'no text demands it, but real clients break on it',
  may: 'a permission: written down, never failed',
  observe: 'the text leaves it open: what was seen is written down',
};
const BASIS_MEANS = {
  keyword: 'the text says MUST, SHOULD or the like',
  schema: 'a shape in the schema',
  prose: 'a plain statement without a keyword',
  jsonrpc: 'JSON-RPC 2.0, which the protocol adopts',
  rfd: 'a completed design document only',
  none: 'no text',
};

function pair(name, value) {
  return value ? [make('dt', {}, name), make('dd', {}, value)] : [];
}

function part(title, ...content) {
  const inside = content.flat().filter(Boolean);
  return inside.length > 0 && make('section', { class: 'part' }, make('h2', {}, title), ...inside);
}

/** The first of many, and the rest on demand. */
function manyOf(nodes, most = 10) {
  const box = make('div', { class: 'many' }, nodes.slice(0, most));
  if (nodes.length > most) {
    const more = make('button', { type: 'button', class: 'more', onclick: () => { more.remove(); box.append(...nodes.slice(most)); } }, `Show ${nodes.length - most} more`);
    box.append(more);
  }
  return box;
}

function scenariosOf(one) {
  const covering = SCENARIOS.filter((scenario) => scenario.covers.includes(one.id));
  if (covering.length === 0) return null;
  return make('ul', { class: 'plain-list' }, covering.map((scenario) => make('li', {}, stateMark(scenario.status), ' ', scenarioLink(scenario))));
}
