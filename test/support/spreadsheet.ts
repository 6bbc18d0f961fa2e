/** What a spreadsheet runs as a formula, also in full width. A negative number is none. */
export const FORMULA = /^\s*(?![-+]?\d+(?:\.\d+)?$)[=+\-@＝＋－＠]/;

/**
 * The cells of a file as a spreadsheet shows them that separates at one character. It is as forgiving as they are: a quote only
 * counts at the beginning of a cell, and what follows the closing one belongs to the cell.
 */
export function spreadsheetCells(text: string, separator: string): string[] {
  const cells: string[] = [];
  for (let at = 0; at < text.length; ) {
    let cell = "";
    if (text[at] === '"') {
      for (at++; at < text.length; at++) {
        if (text[at] !== '"') cell += text[at];
        else if (text[at + 1] === '"') cell += text[at++];
        else break;
      }
      at++;
    }
    while (at < text.length && text[at] !== separator && text[at] !== "\r" && text[at] !== "\n")
      cell += text[at++];
    cells.push(cell);
    at++;
  }
  return cells;
}
