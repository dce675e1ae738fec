// The first view: the verdict, what failed, and the matrix of all requirements.

const VERDICTS = {
  conformant: { state: 'pass', means: 'No must failed.' },
  'known-failures': { state: 'pass', means: 'The only failed musts are listed as known for this agent.' },
  'not-conformant': { state: 'fail', means: 'At least one must failed.' },
  inconclusive: { state: 'inconclusive', means: 'The verdict could not be reached.' },
};

function showOverview(place) {
  const failed = REQUIREMENTS.filter((one) => one.status === 'fail').sort((one, other) => LEVELS.indexOf(one.level) - LEVELS.indexOf(other.level));
  const fresh = failed.filter((one) => !one.known);
  const known = failed.filter((one) => one.known);
  fill(place, 
    verdictBanner(fresh),
    ...remarks(),
    DIFFERENCES.length > 0 && differenceTeaser(),
    fresh.length > 0 && make('section', { class: 'block', 'aria-labelledby': 'failed-title' },
      make('h2', { id: 'failed-title' }, 'What failed'), ...fresh.map(failureCard)),
    make('section', { class: 'block', 'aria-labelledby': 'matrix-title' },
      make('h2', { id: 'matrix-title' }, 'All requirements'), matrix()),
    known.length > 0 && make('section', { class: 'block', 'aria-labelledby': 'known-title' },
      make('h2', { id: 'known-title' }, 'Known failures'), ...known.map(failureCard)),
    make('section', { class: 'block', 'aria-labelledby': 'counts-title' },
      make('h2', { id: 'counts-title' }, 'Counts'), totals(), scenarioTotals()),
    make('section', { class: 'block', 'aria-labelledby': 'setting-title' },
      make('h2', { id: 'setting-title' }, 'What was judged'), setting()),
  );
}

function verdictBanner(fresh) {
  const verdict = VERDICTS[REPORT.verdict] ?? VERDICTS.inconclusive;
  const must = REPORT.totals?.must ?? {};
  const fails = fresh.filter((one) => one.level === 'must').length;
  const parts = [
    fails > 0 && `${fails} failed`,
    `${must.pass ?? 0} passed`,
    `${(must.inconclusive ?? 0) + (must['not-exercised'] ?? 0)} not exercised or inconclusive`,
    `${must['not-applicable'] ?? 0} not applicable`,
  ].filter(Boolean);
  return make('section', { class: `verdict ${verdict.state}`, 'aria-labelledby': 'title' },
    make('span', { class: 'verdict-sign', 'aria-hidden': 'true' }, SIGNS[verdict.state]),
    make('div', {},
      heading(agentName()),
      make('p', { class: 'verdict-word' }, REPORT.verdict ?? 'no verdict'),
      make('p', {}, `${verdict.means} Of the musts: ${parts.join(', ')}.`)));
}

/** What stands in the way of the verdict or qualifies it. */
function remarks() {
  const boxes = [];
  const say = (kind, title, ...words) => boxes.push(make('section', { class: `remark ${kind}` }, make('h2', {}, title), ...words));
  if (REPORT.blocked) say('fail', 'The agent could not be judged', make('p', {}, ...prose(REPORT.blocked)));
  const missing = list(REPORT.missing);
  if (missing.length > 0) {
    say('inconclusive', 'What the verdict on the agent as a whole lacks',
      make('ul', {}, missing.map((one) => make('li', {}, make('a', { href: `#${one.id}` }, one.id), ' ', stateMark(one.status)))));
  }
  const stale = list(REPORT.stale);
  if (stale.length > 0) {
    say('fail', 'Known failures that are none any more',
      make('ul', {}, stale.map((one) => make('li', {}, make('a', { href: `#${one.id}` }, one.id), ' ', ...prose(one.why)))));
  }
  const faults = list(REPORT.faults);
  if (faults.length > 0) {
    say('fail', 'Faults of the harness itself',
      make('ul', {}, faults.map((one) => make('li', {}, one.scenario ? `${one.scenario}: ` : '', ...prose(one.message)))));
  }
  return boxes;
}

/** A failed requirement: what is demanded, what was seen, the message, and where it is written. */
function failureCard(requirement) {
  const [finding] = requirement.findings;
  const more = (requirement.fails ?? requirement.findings.length) - 1;
  return make('article', { class: `card ${requirement.known ? 'known' : 'fail'}`, 'aria-labelledby': `card-${requirement.id}` },
    make('h3', { id: `card-${requirement.id}` }, stateMark('fail', requirement.known ? 'known' : 'fail'), ' ',
      make('a', { href: `#${requirement.id}` }, requirement.id), ' ', levelMark(requirement.level)),
    make('p', { class: 'statement' }, ...prose(requirement.statement)),
    requirement.reason && make('p', {}, 'Known: ', ...prose(requirement.reason)),
    finding && findingLine(finding),
    more > 0 && make('p', { class: 'hint' }, make('a', { href: `#${requirement.id}` }, `Seen ${count(more, 'more time')}`)),
    citations(requirement));
}

/** What was seen, with the way to the message. */
function findingLine(finding, requirement) {
  const recording = recordingOf(finding.trace);
  const event = Number.isInteger(finding.event) ? `&event=${finding.event}` : '';
  const where = recording?.name ?? finding.scenario ?? finding.trace;
  const words = event ? `Show the message: event ${finding.event} of ${where}` : `Show ${where}`;
  const repeat = requirement ? repeatOf(requirement, finding) : undefined;
  return make('div', { class: 'seen' },
    make('p', {}, ...prose(finding.message)),
    make('p', { class: 'ways' },
      recording?.element ? make('a', { class: 'go', href: `#trace=${hashPart(recording.name)}${event}` }, words) : where && `in ${where}${event ? `, event ${finding.event}` : ''}`),
    repeat && commandLine(repeat));
}

function commandLine(command) {
  return make('div', { class: 'command' },
    make('code', {}, command),
    make('button', { type: 'button', class: 'small', onclick: (event) => copy(event.currentTarget, command) }, 'Copy'));
}

/** Where a requirement is written, or the reports that show the harm. */
function citations(requirement) {
  const links = requirement.cite.map((url) => outward(url, `Specification: ${placeOf(url)}`));
  const reports = requirement.reports.length > 0 && make('span', {}, `Reported in ${requirement.reports.join(', ')}`);
  if (links.length === 0 && !reports) return null;
  return make('p', { class: 'cites' }, links, reports);
}

function differenceTeaser() {
  const classes = ['breaking', 'behaviour', 'text', 'timing'];
  const counts = classes.map((name) => [name, DIFFERENCES.filter((one) => one.class === name).length]).filter(([, number]) => number > 0);
  return make('section', { class: 'remark' }, make('h2', {}, 'Differences'),
    make('p', {}, make('a', { class: 'go', href: '#differences' }, `${count(DIFFERENCES.length, 'difference')} from the recording`),
      `: ${counts.map(([name, number]) => `${number} ${name}`).join(', ')}`));
}

/** How many requirements of each level are in each state; each number leads to them. */
function totals() {
  const row = (level) => make('tr', {}, make('th', { scope: 'row' }, levelMark(level)), STATES.map((state) => {
    const number = REPORT.totals?.[level]?.[state] ?? 0;
    const words = `${number} ${level} ${state}`;
    return make('td', {}, number > 0
      ? make('a', { href: `#requirements&level=${level}&state=${state}`, 'aria-label': words }, String(number))
      : make('span', { class: 'none' }, '0'));
  }));
  return make('div', { class: 'wide', tabindex: '0', role: 'region', 'aria-label': 'Requirements by level and state' }, make('table', { class: 'totals' },
    make('caption', {}, 'Requirements by level and state'),
    make('thead', {}, make('tr', {}, make('th', { scope: 'col' }, 'Level'), STATES.map((state) => make('th', { scope: 'col' }, stateMark(state))))),
    make('tbody', {}, LEVELS.map(row))));
}

function scenarioTotals() {
  if (SCENARIOS.length === 0) return null;
  const parts = STATES.map((state) => [state, SCENARIOS.filter((one) => one.status === state).length]).filter(([, number]) => number > 0);
  return make('p', { class: 'chips' }, IS_RUN ? 'Scenarios: ' : 'Recordings: ',
    parts.map(([state, number]) => [make('a', { href: `#scenarios&state=${state}` }, stateMark(state, `${number} ${state}`)), ' ']).flat());
}

/** The agent, what was around it, and by which texts it was judged. */
function setting() {
  const around = REPORT.surroundings;
  const rows = [
    ['Agent', agentName()],
    ['Command', list(REPORT.agent?.command).length > 0 && make('code', {}, shellWords(REPORT.agent.command))],
    ['Home', around && { fresh: 'a fresh folder', keep: 'the user’s own' }[around.home]],
    ['Model', around && { scripted: 'the scripted model', none: 'whatever the agent was set up with' }[around.model]],
    ['Keys handed over', list(around?.handed_over).map((one) => `${one.name} (${one.by})`).join(', ')],
    ['Capabilities', REPORT.agent?.capabilities && jsonView(JSON.stringify(REPORT.agent.capabilities), [], 'Capabilities')],
    ['Protocol', `version ${REPORT.spec?.version ?? '?'}, texts at revision ${REPORT.spec?.revision ?? '?'}, ${REPORT.spec?.schema ?? ''}`],
    ['Harness', REPORT.harness],
  ];
  return make('dl', { class: 'pairs' }, rows.filter(([, value]) => value).flatMap(([name, value]) => [make('dt', {}, name), make('dd', {}, value)]));
}
