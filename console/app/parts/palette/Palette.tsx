/** The command palette: a field that finds pages, sites and the present page's actions. */
import { Modal, Stack, Text, TextInput, VisuallyHidden } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { Fragment, type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { texts } from "../../texts.ts";
import { Failure } from "../Failure.tsx";
import { type PaletteEntry, usePaletteEntries } from "./usePaletteEntries.ts";

const at = texts.palette;
const typingMilliseconds = 150;

interface PaletteProps {
  /** `then` is to run once the palette is gone and no longer holds the focus. */
  readonly close: (then?: () => void) => void;
}

export function Palette({ close }: PaletteProps) {
  const [text, setText] = useState("");
  const [asked] = useDebouncedValue(text.trim(), typingMilliseconds);
  const { entries, isSearching, error, retry } = usePaletteEntries(text.trim(), asked);
  const [wanted, choose] = useState(0);
  const chosen = Math.min(wanted, entries.length - 1);
  const list = useId();
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && entries.length > 0) {
      event.preventDefault();
      choose((chosen + step + entries.length) % entries.length);
    }
    if (event.key !== "Enter") return;
    event.preventDefault();
    const entry = entries[chosen];
    if (entry !== undefined) close(entry.run);
  };
  return (
    <Modal opened onClose={close} title={at.title} closeButtonProps={{ "aria-label": texts.close }} yOffset="10vh">
      <Stack gap="sm">
        <TextInput
          role="combobox"
          aria-label={at.title}
          aria-expanded={entries.length > 0}
          aria-controls={list}
          aria-autocomplete="list"
          aria-activedescendant={entries[chosen]?.id}
          placeholder={at.placeholder}
          autoComplete="off"
          data-autofocus
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value);
            choose(0);
          }}
          onKeyDown={onKeyDown}
        />
        <VisuallyHidden role="status">
          {isSearching ? at.searching : entries.length === 0 ? at.nothing : at.count(entries.length)}
        </VisuallyHidden>
        {(isSearching || (entries.length === 0 && error === null)) && (
          <Text size="sm" aria-hidden="true">
            {isSearching ? at.searching : at.nothing}
          </Text>
        )}
        <Failure error={error} retry={retry} />
        <div id={list} role="listbox" aria-label={at.title} tabIndex={-1}>
          {groupsOf(entries).map(([group, found]) => (
            <Fragment key={group}>
              <Text size="xs" c="dimmed" px="xs" pt="xs" aria-hidden="true">
                {group}
              </Text>
              {found.map((entry) => (
                <Option
                  key={entry.id}
                  entry={entry}
                  isChosen={entry === entries[chosen]}
                  run={() => close(entry.run)}
                />
              ))}
            </Fragment>
          ))}
        </div>
        <Text size="xs" c="dimmed">
          {at.keys}
        </Text>
      </Stack>
    </Modal>
  );
}

interface OptionProps {
  readonly entry: PaletteEntry;
  readonly isChosen: boolean;
  readonly run: () => void;
}

/** The keyboard stays in the field, which names the chosen option. */
function Option({ entry, isChosen, run }: OptionProps) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isChosen) element.current?.scrollIntoView({ block: "nearest" });
  }, [isChosen]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys
    <div
      ref={element}
      id={entry.id}
      role="option"
      aria-selected={isChosen}
      tabIndex={-1}
      className="palette-option"
      onClick={run}
    >
      {entry.name}
      <VisuallyHidden>, {entry.group}</VisuallyHidden>
    </div>
  );
}

function groupsOf(entries: readonly PaletteEntry[]): readonly (readonly [string, readonly PaletteEntry[]])[] {
  return Object.entries(Object.groupBy(entries, ({ group }) => group)).map(([group, found]) => [group, found ?? []]);
}
