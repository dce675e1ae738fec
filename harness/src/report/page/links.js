// Addresses within the page: `#CANCEL-01`, `#requirements&state=fail`, `#scenarios`, `#trace=NAME&event=41`, `#difference=3`.

/** A name as a part of an address; a slash stays, so that it can be read. */
function hashPart(name) {
  return encodeURIComponent(name).replaceAll('%2F', '/').replaceAll('%5B', '[').replaceAll('%5D', ']');
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** What an address asks for: `{view, ...}`. */
function wanted(hash) {
  const parts = hash.replace(/^#/, '').split('&');
  const pairs = Object.fromEntries(parts.map((one) => {
    const at = one.indexOf('=');
    return at < 0 ? [decoded(one), ''] : [one.slice(0, at), decoded(one.slice(at + 1))];
  }));
  const [first] = parts.map(decoded);
  if (pairs.trace !== undefined) {
    return { view: 'recording', name: pairs.trace, event: /^\d+$/.test(pairs.event ?? '') ? Number(pairs.event) : undefined };
  }
  if (/^[A-Z]+-\d+$/.test(first) && REQUIREMENT.has(first)) return { ...pairs, view: 'requirements', id: first };
  if (first === 'requirements' || first === 'scenarios') return { ...pairs, view: first };
  if ((first === 'differences' || pairs.difference !== undefined) && DIFFERENCES.length > 0) return { ...pairs, view: 'differences' };
  if (first === '' && RECORDINGS.length === 1 && document.body.dataset.front === 'recording') {
    return { view: 'recording', name: RECORDINGS[0].name };
  }
  return { view: 'overview' };
}

/** The whole address of a part of the page. */
function addressOf(hash) {
  return location.href.replace(/#.*$/, '') + hash;
}

/** Keeps the address in step with what is chosen, without a step of the history for each. */
function keepAddress(hash) {
  history.replaceState(null, '', hash);
}

const VIEWS = {
  overview: (place) => showOverview(place),
  requirements: showRequirements,
  scenarios: showScenarios,
  differences: showDifferences,
  recording: (place, { name, event }) => showRecording(place, name, event),
};

/** Shows what the address asks for. */
function follow({ first = false } = {}) {
  const place = document.getElementById('main');
  const asked = wanted(location.hash);
  const same = asked.view === 'recording' && document.body.dataset.view === 'recording' && view.trace?.recording === recordingOf(asked.name);
  document.body.dataset.view = asked.view;
  document.body.dataset.ready = '';
  VIEWS[asked.view](place, asked);
  if (same) document.body.dataset.ready = view.trace.recording.name;
  for (const link of document.querySelectorAll('#views a')) {
    const target = wanted(link.getAttribute('href')).view;
    const here = target === asked.view || (target === 'scenarios' && asked.view === 'recording');
    if (here) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  const title = document.querySelector('#main h1')?.textContent ?? '';
  document.title = asked.view === 'overview' ? `${REPORT.verdict}: ${visible(agentName())}` : `${title} · ${visible(agentName())}`;
  if (asked.view === 'recording') view.log?.box.focus({ preventScroll: true });
  else if (!first && asked.difference === undefined) {
    scrollTo(0, 0);
    document.querySelector('#main h1')?.focus({ preventScroll: true });
  }
}

/** The heading of a view; it takes the focus when the view changes. */
function heading(words) {
  return make('h1', { tabindex: '-1', id: 'title' }, words);
}
