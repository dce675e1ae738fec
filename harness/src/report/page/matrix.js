// The matrix: a row for each area, a cell for each requirement with its state. One tab stop; the arrow keys move in it.

function matrix() {
  const areas = [...new Set(REQUIREMENTS.map((one) => one.area))];
  const grid = make('div', { class: 'matrix', role: 'grid', 'aria-label': 'Requirements by area', onkeydown: moveInMatrix },
    areas.map((area) => make('div', { role: 'row', class: 'matrix-row' },
      make('span', { role: 'rowheader', class: 'matrix-area' }, area),
      make('span', { class: 'matrix-cells', role: 'presentation' }, REQUIREMENTS.filter((one) => one.area === area).map(matrixCell)))));
  const first = grid.querySelector('a');
  first?.setAttribute('tabindex', '0');
  return make('div', {}, legend(), grid);
}

function matrixCell(requirement) {
  const number = requirement.id.slice(requirement.area.length + 1);
  const state = stateOf(requirement.status);
  const known = requirement.known ? ', known' : '';
  return make('span', { role: 'gridcell' }, make('a', {
    href: `#${requirement.id}`,
    class: `cell ${state} ${requirement.level}${requirement.known ? ' known' : ''}`,
    tabindex: '-1',
    title: `${requirement.id} ${requirement.level} ${state}${known}: ${visible(requirement.statement)}`,
    'aria-label': `${requirement.id} ${requirement.level} ${state}${known}: ${visible(requirement.statement)}`,
  }, make('span', { class: 'sign', 'aria-hidden': 'true' }, SIGNS[state]), make('span', { 'aria-hidden': 'true' }, number)));
}

function legend() {
  return make('p', { class: 'legend' },
    STATES.map((state) => [stateMark(state), ' ']).flat(),
    make('span', { class: 'legend-note' }, 'A strong frame is a must. The arrow keys move from cell to cell.'));
}

function moveInMatrix(event) {
  const cell = event.target.closest('a.cell');
  if (!cell || event.ctrlKey || event.metaKey || event.altKey) return;
  const rows = [...event.currentTarget.querySelectorAll('.matrix-row')].map((row) => [...row.querySelectorAll('a.cell')]);
  const row = rows.findIndex((cells) => cells.includes(cell));
  const column = rows[row].indexOf(cell);
  const beside = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const below = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  let next;
  if (beside) {
    const all = rows.flat();
    next = all[all.indexOf(cell) + beside];
  } else if (below) next = rows[row + below]?.[Math.min(column, rows[row + below].length - 1)];
  else if (event.key === 'Home') [next] = rows[row];
  else if (event.key === 'End') next = rows[row].at(-1);
  else return;
  event.preventDefault();
  if (!next) return;
  cell.setAttribute('tabindex', '-1');
  next.setAttribute('tabindex', '0');
  next.focus();
}
