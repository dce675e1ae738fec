// Lists that one narrows by words and by state: the requirements and the scenarios.

/**
 * A list with its filter: `entries` are `{name, text, tests, draw}`; `chips` are groups of `{name, values}`. A test is a value of a
 * chip's group. Filter and list are joined by the keyboard: Enter and arrow down go into the list, Escape goes back.
 */
function filteredList(title, entries, chips, given) {
  const chosen = Object.fromEntries(chips.map((chip) => [chip.name, given[chip.name] ?? '']));
  const box = make('ul', { class: 'entries', 'aria-label': title });
  const status = make('p', { class: 'status', role: 'status' });
  const field = make('input', {
    type: 'search', id: 'filter', placeholder: `Search ${title.toLowerCase()}`, 'aria-label': `Search ${title.toLowerCase()}`,
    autocomplete: 'off', spellcheck: 'false', oninput: () => refresh(),
    onkeydown: (event) => {
      if (event.key === 'Enter' || event.key === 'ArrowDown') {
        event.preventDefault();
        box.querySelector('a')?.focus();
      }
    },
  });
  if (given.words) field.value = given.words;
  const drawn = entries.map((entry) => ({ ...entry, lower: entry.text.toLowerCase() }));
  const refresh = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = drawn.filter((entry) => words.every((word) => entry.lower.includes(word))
      && chips.every((chip) => chosen[chip.name] === '' || entry.tests[chip.name] === chosen[chip.name]));
    // Those whose name begins with what is looked for come first.
    const named = (entry) => words.length === 1 && entry.name.toLowerCase().startsWith(words[0]);
    shown.sort((one, other) => named(other) - named(one));
    box.replaceChildren(...shown.map((entry) => entry.node ??= make('li', {}, entry.draw())));
    for (const [index, link] of [...box.querySelectorAll('a')].entries()) link.setAttribute('tabindex', index === 0 ? '0' : '-1');
    const here = box.querySelector('[aria-current]');
    if (here) {
      box.querySelector('a')?.setAttribute('tabindex', '-1');
      here.setAttribute('tabindex', '0');
    }
    status.textContent = shown.length === drawn.length ? `${drawn.length}` : `${shown.length} of ${drawn.length}`;
  };
  box.addEventListener('keydown', (event) => moveInList(event, box, field));
  const choices = chips.map((chip) => make('label', { class: 'choice' }, `${chip.title} `, make('select', {
    onchange: (event) => { chosen[chip.name] = event.target.value; refresh(); },
  }, make('option', { value: '' }, 'all'), chip.values.map((value) => make('option', { value, selected: value === chosen[chip.name] }, value)))));
  refresh();
  return make('div', { class: 'filtered' }, make('div', { class: 'toolbar', role: 'search' }, field, choices, status), box);
}

function moveInList(event, box, field) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const links = [...box.querySelectorAll('a')];
  const here = links.indexOf(document.activeElement);
  if (here < 0) return;
  const next = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: links.length - 1 }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  if (next < 0) {
    field.focus();
    return;
  }
  if (!links[next]) return;
  links[here].setAttribute('tabindex', '-1');
  links[next].setAttribute('tabindex', '0');
  links[next].focus();
}
