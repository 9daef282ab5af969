/**
 * A text replaced by another everywhere in an environment's database. A copy of the database, in which it is replaced,
 * becomes the next release with the files that are there, and takes the place of the present one (`../steps/takeOver.ts`).
 */
import type { Replacements, TextChange } from "@sitewright/runtimes/runtime.ts";
import type { Json } from "../../store/database.ts";
import { readResult, saveResult } from "../../store/operations.ts";
import { type OperationDefinition, type StepContext, StepFailure } from "../engine/operation.ts";
import { backupRoom } from "../steps/backup.ts";
import { requireRoom } from "../steps/diskRoom.ts";
import type { Services } from "../steps/services.ts";
import { holdAndStage, takeOver } from "../steps/takeOver.ts";

/** What is replaced by what is the secret, as JSON. */
export type SearchAndReplaceInput = {
  /** Names the release that is built. */
  readonly token: string;
  readonly target: { readonly id: string; readonly number: number };
  /** Of the target. */
  readonly address: string;
};

type Context = StepContext<SearchAndReplaceInput>;

export function searchAndReplace(services: Services): OperationDefinition<SearchAndReplaceInput> {
  const { database, runtime } = services;

  async function stage({ input, operationId, secret }: Context): Promise<void> {
    const { target: environment, token, address } = input;
    const replaced = await runtime.stageReplacement({ environment, token, change: changeOf(secret()) });
    refuseMove(replaced, address);
    await saveResult(database, operationId, asJson(replaced, true));
  }

  return {
    kind: "searchAndReplace",
    steps: [
      {
        name: "estimate",
        deadlineSeconds: 120,
        run: async ({ input }) => {
          const copies = [
            { environment: input.target, files: 0, database: 1 },
            await backupRoom(database, input.target),
          ];
          await requireRoom(runtime, { copies }, "The replacement");
        },
      },
      ...holdAndStage<SearchAndReplaceInput>(services, stage),
      ...takeOver<SearchAndReplaceInput>(services, {
        what: "The site with the replaced texts",
        note: () => "Before a search and replace",
        sharesOwn: () => true,
      }),
    ],
    pointOfNoReturn: "prune",
    succeeded: (transaction, { operationId }) => readResult(transaction, operationId),
    failed: async () => undefined,
  };
}

/** What the replacement would come to: it is done in a copy that is thrown away. */
export function previewSearchAndReplace({ database, runtime }: Services): OperationDefinition<SearchAndReplaceInput> {
  return {
    kind: "previewSearchAndReplace",
    steps: [
      {
        name: "count",
        deadlineSeconds: 3_600,
        run: async ({ input: { target }, operationId, secret, signal }) => {
          const copies = [{ environment: target, files: 0, database: 1 }];
          await requireRoom(runtime, { copies }, "The preview");
          const found = await runtime.countReplacements(target, changeOf(secret()), signal);
          await saveResult(database, operationId, asJson(found, false));
        },
      },
    ],
    succeeded: (transaction, { operationId }) => readResult(transaction, operationId),
    failed: async () => undefined,
  };
}

function changeOf(secret: string): TextChange {
  const change: unknown = JSON.parse(secret);
  if (typeof change === "object" && change !== null && "search" in change && "replace" in change) {
    return { search: String(change.search), replace: String(change.replace) };
  }
  throw new Error("The secret of a search and replace is something else");
}

/** A network's places have no scheme. */
function parse(address: string): { readonly host: string; readonly href: string } {
  const withScheme = address.includes("://") ? address : `http://${address}`;
  if (!URL.canParse(withScheme)) return { host: address, href: address };
  const { host, href } = new URL(withScheme);
  return { host, href: href.replace(/\/+$/, "") };
}

/**
 * The edge would go on sending visitors of the environment's address to a WordPress that believes to be elsewhere, and it
 * them. Its front page may still come, so that trying it out would not show it.
 */
function refuseMove({ addresses }: Replacements, address: string): void {
  const own = parse(address).host;
  const isOwn = ({ host }: { readonly host: string }) => host === own || host.endsWith(`.${own}`);
  const moved = addresses.find(({ from, to }) => isOwn(parse(from)) && parse(to).href !== parse(from).href);
  if (moved === undefined) return;
  throw new StepFailure(
    `The site would no longer be at its address ${address}: ${moved.place} would become ${moved.to}. Search for something that is no part of it.`,
  );
}

function asJson({ places, skipped, addresses }: Replacements, performed: boolean): Json {
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
  return {
    performed,
    rows: sum(places.map(({ rows }) => rows)),
    occurrences: sum(places.map(({ occurrences }) => occurrences)),
    places: places.map((place) => ({ ...place })),
    skipped: { occurrences: skipped.occurrences, listed: skipped.listed.map((one) => ({ ...one })) },
    addresses: addresses.map((one) => ({ ...one })),
  };
}
