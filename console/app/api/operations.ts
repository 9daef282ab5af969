/** Operations: the list, one that is followed to its end, and starting one. */
import {
  infiniteQueryOptions,
  type QueryClient,
  queryOptions,
  useMutation,
  useQueryClient,
} from "@tanstack/react-query";
import { answered, answerOf, api, type Schemas } from "./client.ts";
import { isLive } from "./eventStream.ts";
import { ApiFailure, fieldOf, textAt } from "./failure.ts";

export type OperationSummary = Schemas["OperationSummary"];

const listKey = ["operations"] as const;
const isUnderWay = ({ state }: Pick<OperationSummary, "state">) => state === "running" || state === "waiting";

/** Polling intervals without events, in milliseconds: short while an operation runs, longer to notice operations that others start. */
const closely = 1_000;
const nowAndThen = 15_000;

/** The latest operations of the company. */
export const latestOperations = queryOptions({
  queryKey: [...listKey, "latest"],
  queryFn: async ({ signal }) => {
    const { company } = await answerOf(api.GET("/operations", { params: { query: { limit: 20 } }, signal }));
    return company.operations.items;
  },
  refetchInterval: ({ state }) => (isLive() ? false : state.data?.some(isUnderWay) ? closely : nowAndThen),
});

export const failedOperations = queryOptions({
  queryKey: [...listKey, "failed"],
  queryFn: async ({ signal }) => {
    const query = { state: "failed", limit: 10 } as const;
    const { company } = await answerOf(api.GET("/operations", { params: { query }, signal }));
    return company.operations;
  },
});

const updates = ["updatePlugin", "updatePlugins", "updateTheme", "updateThemes", "updateWordPress"] as const;

/** Whether it updates WordPress, plugins or themes, and may have compared screenshots. */
export const isUpdate = ({ kind }: { readonly kind: string }): boolean => updates.some((update) => update === kind);

const updatesAtOnce = 20;

/** The updates of an environment, the latest first. */
export const updatesQuery = (environmentId: string) =>
  infiniteQueryOptions({
    queryKey: [...listKey, "updates", environmentId],
    queryFn: async ({ pageParam, signal }) => {
      const query = { env_id: environmentId, kind: [...updates], limit: updatesAtOnce, offset: pageParam };
      return (await answerOf(api.GET("/operations", { params: { query }, signal }))).company.operations;
    },
    initialPageParam: 0,
    getNextPageParam: ({ total }, pages) =>
      pages.length * updatesAtOnce < total ? pages.length * updatesAtOnce : undefined,
  });

/** An operation as it is followed. */
export interface Followed {
  readonly state: "running" | "succeeded" | "failed";
  readonly kind: string;
  readonly step: string | null;
  readonly done: number;
  readonly total: number;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  /** Why it failed. */
  readonly message: string | null;
  readonly siteId: string | null;
  /** Where the site is, once it exists. */
  readonly address: string | null;
  /** What a search and replace found. Null: it is another operation, or it has not succeeded. */
  readonly replaced: Schemas["ReplacementResult"] | null;
  /** The changes that a push or a restore would make. Null: it is another operation, or it has not succeeded. */
  readonly compared: Schemas["PushComparison"] | null;
  /** What an import of a zone file did. Null: it is another operation, or it has not succeeded. */
  readonly imported: Schemas["ZoneImportResult"] | null;
  /** What a WP-CLI command printed. Null: it is another operation, or it has not run. */
  readonly printed: Schemas["WpCliResult"] | null;
}

/** Short, because an open request does not show the steps in between. */
const followMilliseconds = 400;
/** The same while events tell of changes: one that arrives before the first answer does not cause another reading. */
const lookMilliseconds = 3_000;

export const followedOperation = (id: string) =>
  queryOptions({
    queryKey: ["operation", id],
    queryFn: async ({ signal }): Promise<Followed> => {
      const path = { operation_id: id };
      const { data, error, response } = await answered(
        api.GET("/operations/{operation_id}", { params: { path }, signal }),
      );
      const body: unknown = data ?? error;
      const operation = fieldOf(body, "data");
      if (textAt(operation, "kind") === null) throw new ApiFailure(response.status, body);
      const success = data?.status === 200 ? data.data : null;
      const failure = error?.status === 500 && "kind" in error.data ? error.data : null;
      return {
        ...followed(response.status, operation),
        replaced:
          success?.kind === "searchAndReplace" || success?.kind === "previewSearchAndReplace" ? success.result : null,
        compared: success?.kind === "comparePush" || success?.kind === "compareRestore" ? success.result : null,
        imported: success?.kind === "importZoneFile" ? success.result : null,
        printed: success?.kind === "runWpCli" ? success.result : (failure?.result ?? null),
      };
    },
    refetchInterval: ({ state }) => {
      if (state.data !== undefined && state.data.state !== "running") return false;
      return isLive() ? lookMilliseconds : followMilliseconds;
    },
  });

function followed(status: number, data: unknown): Omit<Followed, "replaced" | "compared" | "imported" | "printed"> {
  return {
    state: status === 202 ? "running" : status === 200 ? "succeeded" : "failed",
    kind: textAt(data, "kind") ?? "",
    step: textAt(data, "step"),
    done: Number(fieldOf(data, "steps_done") ?? 0),
    total: Number(fieldOf(data, "steps_total") ?? 0),
    startedAt: textAt(data, "started_at"),
    finishedAt: textAt(data, "finished_at"),
    message: textAt(data, "message"),
    siteId: textAt(data, "idSite"),
    address: textAt(fieldOf(data, "result"), "address"),
  };
}

/** Shows the progress that an event reports. Returns false if something has to be read for it. */
export function withProgress(client: QueryClient, event: unknown): boolean {
  const id = textAt(event, "operation_id");
  const listed = client.getQueryData(latestOperations.queryKey)?.find(({ operation_id }) => operation_id === id);
  if (id === null || listed === undefined || listed.state !== textAt(event, "state")) return false;
  const step = textAt(event, "step");
  const done = Number(fieldOf(event, "steps_done"));
  const started = textAt(event, "started_at");
  client.setQueryData(latestOperations.queryKey, (items) =>
    items?.map((item) => (item.operation_id === id ? { ...item, step, steps_done: done, started_at: started } : item)),
  );
  client.setQueryData(followedOperation(id).queryKey, (known) => known && { ...known, step, done, startedAt: started });
  return true;
}

/** Waits for the end of an operation with an open request, and again until it has ended. */
export const endOfOperation = (id: string) =>
  queryOptions({
    queryKey: ["operation", id, "end"],
    queryFn: async ({ signal }) => {
      const params = { path: { operation_id: id }, query: { wait: 30 } };
      const { response } = await answered(api.GET("/operations/{operation_id}", { params, signal }));
      return response.status !== 202;
    },
    refetchInterval: ({ state }) => (state.data === true ? false : 1),
    staleTime: 0,
  });

/** A call that starts an operation. The panel shows it at once, and lists are read again when it has ended. */
export function useStart<Input>(call: (input: Input) => Promise<Schemas["Accepted"]>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: call,
    onSuccess: () => client.invalidateQueries({ queryKey: listKey }),
  });
}
