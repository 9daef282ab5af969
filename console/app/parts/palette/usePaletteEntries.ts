import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { siteNamesQuery } from "../../api/people.ts";
import { useSignedIn } from "../../api/session.ts";
import { texts } from "../../texts.ts";
import { pagesFor } from "../pages.ts";
import { pageActions } from "./pageActions.ts";

const at = texts.palette;

export interface PaletteEntry {
  readonly id: string;
  readonly group: string;
  readonly name: string;
  readonly run: () => void;
}

/** Of the page's actions, and of the sites. */
const maxShown = 8;

interface PaletteEntries {
  readonly entries: readonly PaletteEntry[];
  /** Whether sites that match may follow. */
  readonly isSearching: boolean;
  /** Why no sites are shown, or null. */
  readonly error: Error | null;
  readonly retry: () => void;
}

/** What matches the text. `asked`: the text a moment ago, so that not every key press asks the API. */
export function usePaletteEntries(text: string, asked: string): PaletteEntries {
  const navigate = useNavigate();
  const session = useSignedIn();
  const [actions] = useState(pageActions);
  const isAsked = asked !== "" && asked === text;
  // Results of an earlier search would look like results of this one.
  const sites = useQuery({ ...siteNamesQuery(asked), enabled: asked !== "", placeholderData: undefined });
  const matches = ({ name }: { readonly name: string }) => name.toLowerCase().includes(text.toLowerCase());
  const pages = [
    ...pagesFor(session).map(({ to, label }) => ({ name: label, run: () => void navigate({ to }) })),
    { name: texts.labels.title, run: () => void navigate({ to: "/labels" }) },
    { name: texts.sites.create, run: () => void navigate({ to: "/sites/new" }) },
  ];
  const found = (isAsked ? (sites.data ?? []) : []).map(({ id, display_name: name }) => ({
    name,
    run: () => void navigate({ to: "/sites/$siteId", params: { siteId: id } }),
  }));
  return {
    entries: [
      ...entriesOf(at.actions, actions.filter(matches).slice(0, maxShown)),
      ...entriesOf(at.pages, pages.filter(matches)),
      ...entriesOf(at.sites, found.slice(0, maxShown)),
    ],
    isSearching: text !== "" && (!isAsked || sites.isPending),
    error: isAsked ? sites.error : null,
    retry: () => void sites.refetch(),
  };
}

const entriesOf = (group: string, found: readonly Omit<PaletteEntry, "id" | "group">[]): readonly PaletteEntry[] =>
  found.map((entry, index) => ({ ...entry, group, id: `${group}-${index}`.replaceAll(" ", "-") }));
