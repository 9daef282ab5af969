/** Validates a table from the admin socket or a file. */
import * as v from "valibot";
import { readNetwork } from "./blockedIps.ts";
import { checkInput, count, InvalidInput, text } from "./checkInput.ts";
import type { EdgeEnvironment, EdgeTable } from "./table.ts";

const folder = v.pipe(v.string(), v.startsWith("/", "expected an absolute path"));

const network = v.pipe(
  v.string(),
  v.check((written) => readNetwork(written) !== null, "expected an address or a network"),
);

const limits = v.object({
  threads: count,
  companyThreads: v.optional(v.nullable(count), null),
  memoryMb: count,
  requestSeconds: v.nullable(count),
  disk: v.nullable(v.object({ leftBytes: v.pipe(v.number(), v.safeInteger()), measuredAt: count })),
});

export const environmentSchema: v.GenericSchema<unknown, EdgeEnvironment> = v.object({
  id: text,
  number: count,
  phpVersion: text,
  release: count,
  documentRoot: folder,
  overlays: v.record(v.string(), folder),
  multisite: v.nullable(v.picklist(["subdirectory", "subdomain"])),
  // Older table files lack the fields below.
  runtime: v.exactOptional(text),
  wordpressVersion: v.exactOptional(v.nullable(text)),
  companyId: v.exactOptional(text),
  isFrozen: v.optional(v.boolean(), false),
  phpRestarts: v.optional(count, 0),
  isOffline: v.optional(v.boolean(), false),
  maySendMail: v.optional(v.boolean(), false),
  isXmlRpcOn: v.exactOptional(v.boolean()),
  deniedIps: v.optional(v.array(network), []),
  primaryHost: v.exactOptional(text),
  redirectRules: v.exactOptional(text),
  pageCache: v.exactOptional(v.object({ epoch: count })),
  limits: v.exactOptional(limits),
});

const tableSchema: v.GenericSchema<unknown, EdgeTable> = v.object({
  generation: count,
  environments: v.array(environmentSchema),
  hosts: v.array(
    v.object({ name: text, environmentId: text, forceHttps: v.exactOptional(v.picklist(["same", "primary"])) }),
  ),
  // Older table files lack the fields below.
  away: v.optional(v.array(text), []),
  certificates: v.optional(v.array(v.object({ id: text, names: v.array(text), notAfter: count })), []),
  challenges: v.optional(v.array(v.object({ host: text, token: text, content: text })), []),
});

/** Throws `InvalidInput`, which names the first invalid field. */
export function readTable(value: unknown): EdgeTable {
  const table = checkInput(tableSchema, value);
  const ids = new Set(table.environments.map(({ id }) => id));
  for (const { name, environmentId } of table.hosts) {
    if (!ids.has(environmentId)) throw new InvalidInput(`hosts: the environment of ${name} is not in the table`);
  }
  return table;
}
