/**
 * Replaces a text everywhere in an environment's database. The replacement is done in a copy of the database, which
 * becomes the next release together with the current files (`../steps/takeOver.ts`).
 */
import type { OperationResult } from "@sitewright/contract/operationResults.ts";
import type { Replacements, TextChange } from "@sitewright/runtimes/runtime.ts";
import { readResult, saveResult } from "../../store/operations.ts";
import { type OperationDefinition, type StepContext, StepFailure } from "../engine/operation.ts";
import { backupSpace } from "../steps/backup.ts";
import { requireDiskSpace } from "../steps/diskSpace.ts";
import type { EnvironmentInput } from "../steps/environmentInput.ts";
import type { Services } from "../steps/services.ts";
import { freezeAndStage, takeOver } from "../steps/takeOver.ts";

/** The secret is a `TextChange` as JSON. */
export type SearchAndReplaceInput = {
  /** Identifies the release that is built. */
  readonly token: string;
  readonly target: EnvironmentInput;
  /** The target's address. */
  readonly address: string;
};

type Context = StepContext<SearchAndReplaceInput>;

export function searchAndReplace(services: Services): OperationDefinition<SearchAndReplaceInput> {
  const { database, runtime } = services;

  async function stage({ input, operationId, secret }: Context): Promise<void> {
    const { target: environment, token, address } = input;
    const replaced = await runtime.stageReplacement({ environment, token, change: parseChange(secret()) });
    requireSameAddress(replaced, address);
    await saveResult(database, operationId, asJson(replaced, true));
  }

  return {
    kind: "searchAndReplace",
    turnFrom: "hold",
    steps: [
      {
        name: "estimate",
        deadlineSeconds: 120,
        run: async ({ input }) => {
          const copies = [
            { environment: input.target, files: 0, database: 1 },
            await backupSpace(database, input.target),
          ];
          await requireDiskSpace(runtime, { copies }, "The replacement");
        },
      },
      ...freezeAndStage<SearchAndReplaceInput>(services, stage),
      ...takeOver<SearchAndReplaceInput>(services, {
        what: "The site with the replaced texts",
        note: () => "Before a search and replace",
        sharesTargetData: () => true,
      }),
    ],
    pointOfNoReturn: "prune",
    succeeded: (transaction, { operationId }) => readResult(transaction, operationId),
    failed: async () => undefined,
  };
}

/** Previews a replacement: does it in a copy that is then removed. */
export function previewSearchAndReplace({ database, runtime }: Services): OperationDefinition<SearchAndReplaceInput> {
  return {
    kind: "previewSearchAndReplace",
    turnFrom: "count",
    steps: [
      {
        name: "count",
        deadlineSeconds: 3_600,
        run: async ({ input: { target }, operationId, secret, signal }) => {
          const copies = [{ environment: target, files: 0, database: 1 }];
          await requireDiskSpace(runtime, { copies }, "The preview");
          const found = await runtime.countReplacements(target, parseChange(secret()), signal);
          await saveResult(database, operationId, asJson(found, false));
        },
      },
    ],
    succeeded: (transaction, { operationId }) => readResult(transaction, operationId),
    failed: async () => undefined,
  };
}

function parseChange(secret: string): TextChange {
  const change: unknown = JSON.parse(secret);
  if (typeof change === "object" && change !== null && "search" in change && "replace" in change) {
    return { search: String(change.search), replace: String(change.replace) };
  }
  throw new Error("The secret of a search and replace is not a text change");
}

/** Splits an address. Addresses of the sites of a network have no scheme. */
function parseAddress(address: string): { readonly host: string; readonly href: string } {
  const withScheme = address.includes("://") ? address : `http://${address}`;
  if (!URL.canParse(withScheme)) return { host: address, href: address };
  const { host, href } = new URL(withScheme);
  return { host, href: href.replace(/\/+$/, "") };
}

/**
 * Throws `StepFailure` if the replacement changes the site's own address: WordPress would redirect visitors to an
 * address that is not served. A trial might not find that, because the front page may still load.
 */
function requireSameAddress({ addresses }: Replacements, address: string): void {
  const own = parseAddress(address).host;
  const isOwn = ({ host }: { readonly host: string }) => host === own || host.endsWith(`.${own}`);
  const moved = addresses.find(
    ({ from, to }) => isOwn(parseAddress(from)) && parseAddress(to).href !== parseAddress(from).href,
  );
  if (moved === undefined) return;
  throw new StepFailure(
    `The site would no longer be at its address ${address}: ${moved.place} would become ${moved.to}. Search for a text that is not part of the address.`,
  );
}

function asJson({ places, skipped, addresses }: Replacements, performed: boolean): OperationResult<"searchAndReplace"> {
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
