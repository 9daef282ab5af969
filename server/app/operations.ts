/** Operations: their state, the list, and the screenshots of updates. */
import { operationMessages } from "@sitewright/contract/operationKinds.ts";
import { openWpCliResult } from "@sitewright/server/operations/sites/runWpCli.ts";
import { workName } from "@sitewright/server/operations/steps/backup.ts";
import type { Blocker } from "@sitewright/server/store/database.ts";
import { listOperations, type OperationRecord, type OperationRow } from "@sitewright/server/store/operations.ts";
import { withLink } from "./backups/downloadableBackups.ts";
import { canWrite, sitesInScope } from "./company/access.ts";
import type { Context } from "./context.ts";
import { NotFound } from "./failures.ts";
import { makeKeptView } from "./keptViews.ts";

type OperationView =
  | { readonly state: "running"; readonly message: string; readonly data: OperationData }
  | {
      readonly state: "succeeded";
      readonly message: string;
      readonly data: OperationData & { readonly result: unknown };
    }
  | { readonly state: "failed"; readonly message: string; readonly data: OperationData & OperationFault };

interface OperationData {
  readonly idSite?: string;
  readonly idEnv?: string;
  readonly kind: string;
  readonly step: string | null;
  readonly steps_done: number;
  readonly steps_total: number;
  readonly started_at: string | null;
  readonly finished_at: string | null;
}

interface OperationFault {
  readonly message: string;
  readonly reference_id: string;
  readonly code?: "environment_busy";
  readonly blocked_by?: { readonly operation_id: string; readonly kind: string }[];
  /** Output of a command that failed. */
  readonly result?: unknown;
}

/** Waits up to `seconds` for the end of the operation, then returns its state. */
export async function follow(context: Context, operationId: string, seconds: number): Promise<OperationView> {
  const { read, untilEnded } = context.operationWaits;
  const operation = await (seconds > 0 ? untilEnded(operationId, seconds, context.onGone) : read(operationId));
  if (operation?.company_id !== context.caller.companyId) throw new NotFound();
  // Links are never stored, and the output of commands is stored sealed.
  if (operation.kind === "addDownloadableBackup") return view(operation, withLink(context, operation.result));
  if (operation.kind === "runWpCli") return view(operation, outputFor(context, operation));
  return commonView(operation, null);
}

/** The same for all callers. */
const commonView = makeKeptView((operation: OperationRecord, _: null) => view(operation, operation.result));

/** The output can contain the site's secrets, which read-only callers can't see anywhere else. */
function outputFor({ caller, sealer }: Context, { id, result }: OperationRecord): unknown {
  return canWrite(caller) ? openWpCliResult(result, sealer, id) : null;
}

function view(operation: OperationRecord, result: unknown): OperationView {
  const data = progress(operation);
  if (operation.state === "succeeded") {
    return { state: "succeeded", message: operationMessages.succeeded, data: { ...data, result } };
  }
  if (operation.state === "failed") {
    const fault = {
      message: operation.public_error ?? operationMessages.failed,
      reference_id: operation.reference_id,
      ...busyFacts(operation),
    };
    const output = result === null ? {} : { result };
    return { state: "failed", message: operationMessages.failed, data: { ...data, ...fault, ...output } };
  }
  return { state: "running", message: operationMessages.running, data };
}

/** Machine-readable details of a busy environment. */
export function busyData(blockers: readonly Blocker[]) {
  return {
    code: "environment_busy",
    blocked_by: blockers.map(({ id, kind }) => ({ operation_id: id, kind })),
  } as const;
}

const busyFacts = ({ blocked_by }: OperationRecord) => (blocked_by === null ? {} : busyData(blocked_by));

interface OperationQuery {
  readonly state?: OperationRow["state"];
  readonly kind?: readonly string[];
  readonly site_id?: string;
  readonly env_id?: string;
  readonly limit?: number;
  readonly offset?: number;
}

const defaultLimit = 20;
const maxLimit = 100;

/** Lists the operations of the caller's company on sites in the key's scope. */
export async function list({ caller, database }: Context, query: OperationQuery) {
  const { items, total } = await listOperations(database, {
    companyId: caller.companyId,
    state: query.state ?? null,
    kinds: query.kind ?? null,
    siteId: query.site_id ?? null,
    environmentId: query.env_id ?? null,
    siteIds: sitesInScope(caller),
    limit: Math.min(query.limit ?? defaultLimit, maxLimit),
    offset: query.offset ?? 0,
  });
  return { total, items: items.map(summary) };
}

function summary(operation: OperationRow) {
  return {
    operation_id: operation.id,
    state: operation.state,
    ...progress(operation),
    created_at: operation.created_at.toISOString(),
    message: operation.state === "failed" ? (operation.public_error ?? operationMessages.failed) : null,
    ...busyFacts(operation),
  };
}

function progress(operation: OperationRecord): OperationData {
  return {
    ...(operation.site_id && { idSite: operation.site_id }),
    ...(operation.environment_id && { idEnv: operation.environment_id }),
    kind: operation.kind,
    step: operation.step,
    steps_done: operation.steps_done,
    steps_total: operation.steps_total,
    started_at: operation.started_at?.toISOString() ?? null,
    finished_at: operation.finished_at?.toISOString() ?? null,
  };
}

const asDataUrl = (png: Buffer) => `data:image/png;base64,${png.toString("base64")}`;

/**
 * Lists the visual differences of the checked pages; empty if none were checked. The screenshots themselves are included
 * for the page with the path `only`.
 */
export async function screenshots({ findScreenshots }: Context, operationId: string, only: string | null) {
  const found = await findScreenshots(workName(operationId), only);
  return found.map(({ path, share, before, after }) => ({
    path,
    difference: Math.round(share * 1_000) / 10,
    before_bytes: before.bytes,
    after_bytes: after.bytes,
    ...(before.png && { before: asDataUrl(before.png) }),
    ...(after.png && { after: asDataUrl(after.png) }),
  }));
}
