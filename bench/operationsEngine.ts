/**
 * `node operationsEngine.ts <database url> [hang]` runs operations of three empty steps, for `operations.ts`. It sends
 * `ready` over IPC, then the start time of the first two steps in nanoseconds of the monotonic clock. With `hang`, the
 * second step never ends, so that the process can be killed during it.
 */

import { startEngine } from "@sitewright/server/operations/engine/engine.ts";
import type { AnyDefinition } from "@sitewright/server/operations/engine/operation.ts";
import { makeSealer } from "@sitewright/server/sealing.ts";
import { openNotifications } from "@sitewright/server/store/notifications.ts";
import { openDatabase } from "@sitewright/server/store/open.ts";
import { acceptedChannel, endedChannel } from "@sitewright/server/store/operations.ts";
import pino from "pino";

const [url = "", hang] = process.argv.slice(2);
const report = (message: unknown): void => void process.send?.(message);
const now = (): string => process.hrtime.bigint().toString();

const emptySteps: AnyDefinition = {
  kind: "addSite",
  steps: [
    {
      name: "one",
      deadlineSeconds: 10,
      run: async ({ operationId }) => report({ operationId, step: "one", at: now() }),
    },
    {
      name: "two",
      deadlineSeconds: 600,
      run: ({ operationId }) => {
        report({ operationId, step: "two", at: now() });
        return hang === undefined ? Promise.resolve() : new Promise(() => undefined);
      },
    },
    { name: "three", deadlineSeconds: 10, run: async () => undefined },
  ],
  succeeded: async () => null,
  failed: async () => undefined,
};

const { database } = openDatabase(url);
await startEngine({
  url,
  database,
  notifications: await openNotifications({ url, channels: [acceptedChannel, endedChannel] }),
  sealer: makeSealer(Buffer.alloc(32)),
  definitions: [emptySteps],
  log: pino({ level: "silent" }),
});
process.on("disconnect", () => process.exit());
report("ready");
