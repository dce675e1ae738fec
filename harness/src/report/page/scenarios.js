// The view of the scenarios, or of the recordings where nothing was run.

function scenarioLink(scenario) {
  const name = scenario.recording?.name ?? scenario.id;
  return scenario.recording ? make('a', { href: `#trace=${hashPart(name)}` }, name) : make('span', {}, name);
}

function showScenarios(place, given) {
  const title = IS_RUN ? 'Scenarios' : 'Recordings';
  const entries = SCENARIOS.map((one) => {
    const name = one.recording?.name ?? one.id;
    const head = make('span', { class: 'entry-head' }, make('strong', {}, name), Number.isFinite(one.seconds) && make('span', { class: 'facts' }, duration(one.seconds)));
    return {
      name,
      text: `${one.id} ${one.status ?? ''} ${one.title} ${one.why.join(' ')} ${one.covers.join(' ')}`,
      tests: { state: one.status, area: name.split('/')[0] },
      draw: () => make(one.recording ? 'a' : 'div', { href: `#trace=${hashPart(name)}`, class: 'entry' }, one.status && stateMark(one.status), head,
        make('span', { class: 'entry-text' }, one.title), one.why.length > 0 && make('span', { class: 'entry-why' }, ...prose(one.why.join('; ')))),
    };
  });
  const areas = [...new Set(entries.map((entry) => entry.tests.area))];
  const chips = [{ name: 'state', title: 'State', values: STATES }];
  if (IS_RUN) chips.push({ name: 'area', title: 'Area', values: areas });
  fill(place, heading(title), filteredList(title, entries, chips, given));
}
