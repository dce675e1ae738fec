// What the page is about: the report as it was written, the catalogue, the scenarios, the recordings.

function embedded(id) {
  return JSON.parse(document.getElementById(id).textContent);
}

const REPORT = embedded('report');
const CATALOGUE = embedded('catalogue');
const RECORDINGS = embedded('recordings');

const list = (value) => (Array.isArray(value) ? value : []);
const areaOf = (id) => id.replace(/-\d+$/, '');

/** The requirements of the report, each with its entry of the catalogue, in the order of the catalogue. */
const REQUIREMENTS = list(REPORT.requirements).map((standing) => {
  const entry = CATALOGUE.requirements.find((one) => one.id === standing.id);
  const findings = list(standing.findings);
  return {
    ...entry,
    ...standing,
    statement: entry?.statement ?? 'This requirement is not in the catalogue of this version.',
    cite: list(entry?.cite),
    reports: list(entry?.reports),
    area: areaOf(standing.id),
    findings,
    notes: list(standing.notes),
    why: list(standing.why),
  };
});
const REQUIREMENT = new Map(REQUIREMENTS.map((one) => [one.id, one]));

/** The scenarios of the report, each with its title and what it covers. */
const SCENARIOS = list(REPORT.scenarios).map((played) => {
  const entry = CATALOGUE.scenarios.find((one) => one.id === played.id);
  const recording = recordingOf(played.trace);
  return {
    ...played,
    title: entry?.title ?? recording?.about ?? '',
    covers: list(entry?.covers),
    why: list(played.why),
    recording,
  };
});

// Recordings that belong to no scenario, as those of a replay.
for (const recording of RECORDINGS) {
  if (SCENARIOS.some((one) => one.recording === recording)) continue;
  SCENARIOS.push({ id: recording.name, title: recording.about ?? '', covers: [], why: [], recording });
}

const DIFFERENCES = list(REPORT.differences).map((one, index) => ({ ...one, number: index + 1 }));
const REPLAYS = list(REPORT.replays);
const IS_RUN = REPORT.surroundings !== undefined && list(REPORT.recordings).length === 0;

/** The recording of that path or name. */
function recordingOf(name) {
  if (typeof name !== 'string') return undefined;
  return RECORDINGS.find((one) => one.path === name) ?? RECORDINGS.find((one) => one.name === name);
}

/** What was found in a recording: `{requirement, finding, failed}`, with the events that they point at. */
function findingsIn(recording) {
  const all = [];
  for (const requirement of REQUIREMENTS) {
    const failed = requirement.status === 'fail';
    for (const finding of requirement.findings) {
      if (finding.trace === recording.path) all.push({ requirement, finding, failed });
    }
    for (const finding of requirement.notes) {
      if (finding.trace === recording.path && Number.isInteger(finding.event)) {
        all.push({ requirement, finding, failed: false });
      }
    }
  }
  return all.sort((one, other) => (one.finding.event ?? -1) - (other.finding.event ?? -1));
}

/** The differences that point into a recording, each with the event on its side. */
function differencesIn(recording) {
  return DIFFERENCES.flatMap((difference) => {
    const { left, right } = sidesOf(difference);
    if (left === recording && Number.isInteger(difference.left_event)) {
      return [{ difference, event: difference.left_event }];
    }
    if (right === recording && Number.isInteger(difference.right_event)) {
      return [{ difference, event: difference.right_event }];
    }
    return [];
  });
}

/** The recordings on both sides of a difference, where they are known. */
function sidesOf(difference) {
  const replay = REPLAYS.find((one) => one.recording === difference.recording);
  if (replay) {
    return { left: recordingOf(replay.recording), right: recordingOf(list(replay.traces)[0]) };
  }
  return { left: recordingOf(difference.left_trace), right: recordingOf(list(REPORT.recordings)[0]?.trace) };
}

/** Where a citation leads, without the address of the repository. */
function placeOf(url) {
  const place = url.replace(/^https:\/\/github\.com\/[^/]+\/[^/]+\/blob\/[^/]+\//, '');
  return decodeURIComponent(place);
}

/** The word for the agent: its name and version, or its command. */
function agentName() {
  const { name, version, command } = REPORT.agent ?? {};
  if (name) return version ? `${name} ${version}` : name;
  return shellWords(list(command)) || 'Recordings of several agents';
}

/** Words as one types them in a shell. */
function shellWords(words) {
  const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
  return words.map(quoted).join(' ');
}

/** The command that shows a finding of a requirement again, where the report says how. */
function repeatOf(requirement, finding) {
  const before = list(REPORT.repeat?.before);
  const after = list(REPORT.repeat?.after);
  if (before.length === 0) return undefined;
  if (finding.scenario) return shellWords([...before, '--only', finding.scenario, ...after]);
  return finding.trace ? shellWords([...before, '--only', requirement.id, finding.trace, ...after]) : undefined;
}
