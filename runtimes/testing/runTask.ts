/** Runs a task of the platform as the edge does. */
import { randomBytes } from "node:crypto";
import { text } from "node:stream/consumers";
import { exampleRequest } from "../conformance/conformance.ts";
import type { PhpRequest, Serving } from "../serving.ts";
import type { Site } from "./visitor.ts";

interface TaskAnswer {
  readonly status: number;
  /** The task's answer, or null if a plugin ended the request first. */
  readonly answer: unknown;
  /** PHP's whole output. */
  readonly printed: string;
  readonly errors: string;
}

export async function runTask(
  serving: Serving,
  site: Pick<Site, "environment" | "wordpress">,
  name: string,
  input: object = {},
  changes: Partial<PhpRequest> = {},
): Promise<TaskAnswer> {
  const mark = randomBytes(24).toString("hex");
  const task = { name, input: JSON.stringify({ mark, input }) };
  const request = exampleRequest(site.wordpress.address, { task, ...changes });
  const response = await serving.handle(site.environment.id, request);
  const printed = await text(response.body);
  const [, answer, after] = printed.split(mark);
  return {
    status: response.status,
    answer: answer === undefined || after === undefined ? null : JSON.parse(answer),
    printed,
    errors: await response.errors,
  };
}
