/** The actions of the present page: its buttons, by their names. Whatever a page offers is in the palette, too. */

export interface PageAction {
  readonly name: string;
  readonly run: () => void;
}

export function pageActions(): readonly PageAction[] {
  const found = new Map<string, PageAction>();
  for (const element of document.querySelectorAll<HTMLElement>("#content .mantine-Button-root")) {
    const name = nameOf(element);
    if (name === "" || found.has(name) || !isUsable(element)) continue;
    found.set(name, {
      name,
      run: () => {
        element.focus();
        element.click();
      },
    });
  }
  return [...found.values()];
}

const nameOf = (element: HTMLElement): string =>
  (element.getAttribute("aria-label") ?? element.textContent ?? "").trim();

const isUsable = (element: HTMLElement): boolean =>
  element.checkVisibility() && !element.matches(":disabled, [aria-disabled='true'], [aria-hidden='true']");
