/** Checks JSON from the admin socket and from table files. */
import * as v from "valibot";
import { readPath } from "../http/path.ts";
import { readHost } from "./hosts.ts";

export class InvalidInput extends Error {
  override readonly name = "InvalidInput";
}

/** Throws `InvalidInput` with the path of the first invalid field. */
export function checkInput<Output>(schema: v.GenericSchema<unknown, Output>, value: unknown): Output {
  const result = v.safeParse(schema, value, { abortEarly: true });
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw new InvalidInput(`${v.getDotPath(issue) ?? "input"}: ${issue.message}`);
}

export const text = v.pipe(v.string(), v.nonEmpty());
export const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

export const hostName = v.pipe(
  text,
  v.check((host) => readHost(host) !== null, "expected the name of a host, with or without a port"),
);

/** A request target, parsed. */
export const visitorPath = v.pipe(
  text,
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const path = readPath(dataset.value);
    if (path !== null) return path;
    addIssue({ message: "expected path and query, as in the first line of a request" });
    return NEVER;
  }),
);
