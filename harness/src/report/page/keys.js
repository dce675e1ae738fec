// The keyboard: single keys that work wherever one does not type, and the help that lists them.

const HELP = [
  ['/', 'search or filter in this view'],
  ['Enter', 'open what is chosen; from the filter into the list; from an event to its message'],
  ['↑ ↓', 'move in a list, in the matrix and in the picture; also Home, End, Page up, Page down'],
  ['← →', 'close and open a row of joined chunks'],
  ['n p', 'next and previous event with a finding or difference'],
  ['Escape', 'leave the filter, close the help, go up'],
  ['?', 'this help'],
];

/** A setting that is kept from visit to visit, where the browser keeps any. */
function kept(name, value) {
  try {
    if (value !== undefined) localStorage.setItem(`acp-harness ${name}`, value);
    return localStorage.getItem(`acp-harness ${name}`);
  } catch {
    return value ?? null;
  }
}

function startKeys() {
  const help = document.getElementById('help');
  const rows = HELP.map(([keys, words]) => [make('dt', {}, keys.split(' ').map((key) => [make('kbd', {}, key), ' ']).flat()), make('dd', {}, words)]);
  document.getElementById('keys').append(...rows.flat());
  const single = document.getElementById('single-keys');
  single.checked = kept('keys') !== 'off';
  single.addEventListener('change', () => kept('keys', single.checked ? 'on' : 'off'));
  document.getElementById('help-button').addEventListener('click', () => help.showModal());
  document.getElementById('help-close').addEventListener('click', () => help.close());
  document.querySelector('.skip').addEventListener('click', (event) => {
    // The address says what is shown, so it is left alone.
    event.preventDefault();
    document.getElementById('main').focus();
  });
  document.addEventListener('keydown', (event) => pressed(event, help, single.checked));
}

function pressed(event, help, single) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  const typing = /^(input|textarea|select)$/i.test(event.target.tagName);
  if (event.key === 'Escape') escape(event, typing);
  else if (single && !typing && event.key === '/') {
    const field = document.getElementById('filter');
    if (field) {
      event.preventDefault();
      field.focus();
      field.select();
    } else location.hash = '#requirements';
  } else if (single && !typing && event.key === '?') {
    event.preventDefault();
    help.showModal();
  }
}

/** One step back: out of the filter, from the message to the picture, from a part to the whole. */
function escape(event, typing) {
  const field = document.getElementById('filter');
  event.preventDefault();
  if (typing && event.target === field && field.value !== '') {
    field.value = '';
    field.dispatchEvent(new Event('input'));
  } else if (typing) {
    const next = document.querySelector('#log, .entries a[tabindex="0"]');
    if (next) next.focus();
    else event.target.blur();
  } else if (event.target.closest?.('.detail')) view.log.box.focus();
  else if (document.body.dataset.view === 'recording' && SCENARIOS.length > 0) location.hash = '#scenarios';
  else if (document.body.dataset.view === 'requirements' && /^#[A-Z]+-\d+/.test(location.hash)) location.hash = '#requirements';
  else if (document.body.dataset.view !== 'overview') location.hash = '#overview';
}

/** Light, dark, or as the system has it. */
function startTheme() {
  const button = document.getElementById('theme');
  const order = ['system', 'light', 'dark'];
  let now = order.includes(kept('theme')) ? kept('theme') : 'system';
  const show = () => {
    document.documentElement.dataset.theme = now;
    button.textContent = { system: '◐ System', light: '○ Light', dark: '● Dark' }[now];
    button.setAttribute('aria-label', `Colours: ${now}. Change`);
  };
  button.addEventListener('click', () => {
    now = order[(order.indexOf(now) + 1) % order.length];
    kept('theme', now);
    show();
  });
  show();
}
