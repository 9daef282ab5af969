/** Reads again what events have changed. */
import type { QueryClient } from "@tanstack/react-query";
import { followEvents, type LiveEvent } from "./eventStream.ts";
import { textAt } from "./failure.ts";
import { withProgress } from "./operations.ts";
import { peopleKey } from "./people.ts";
import { sessionKey } from "./session.ts";

type Key = readonly string[];

const everything: Key = [];
const operations: Key = ["operations"];
const sites: Key = ["sites"];
/** What entries of the activity log about people and their keys are about. */
const aboutPeople: readonly Key[] = [peopleKey, ["api-keys"], ["sessions"], ["second-factor"], sessionKey];

/** The beginnings of the keys of the queries that an event may have changed. */
function changedBy({ type, data }: LiveEvent): readonly Key[] {
  if (type === "reset") return [everything];
  if (type === "activity.recorded") {
    return textAt(data, "category") === "userManagement" ? [operations, ...aboutPeople] : [operations, sites];
  }
  if (!type.startsWith("operation.")) return [sites];
  const own: Key = ["operation", textAt(data, "operation_id") ?? ""];
  return type === "operation.progress" ? [operations, own] : [operations, sites, own];
}

/** Events that come together are followed by one reading. Milliseconds. */
const together = 300;

/** Keeps the queries up to date until the returned function is called. */
export function keepUpToDate(client: QueryClient, company: string): () => void {
  const changed = new Map<string, Key>();
  let timer: number | undefined;

  function readAgain(): void {
    timer = undefined;
    const keys = [...changed.values()];
    changed.clear();
    for (const queryKey of keys) void client.invalidateQueries({ queryKey });
  }

  function note(keys: readonly Key[]): void {
    for (const key of keys) changed.set(key.join(" "), key);
    timer ??= window.setTimeout(readAgain, together);
  }

  const stop = followEvents(company, {
    onEvent: (event) => {
      if (event.type !== "operation.progress" || !withProgress(client, event.data)) note(changedBy(event));
    },
    // Being repeated depends on the next answer. If the session has ended, this shows it.
    onLost: () => note([operations, ["operation"], sessionKey]),
  });
  return () => {
    stop();
    window.clearTimeout(timer);
  };
}
