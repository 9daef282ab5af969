/** Sends requests to the demo's API, without a browser. */
import { type EndpointName, endpoints } from "@sitewright/contract/endpoints.ts";
import { answer } from "../api/demoApi.ts";
import { makeWorld } from "../world/makeWorld.ts";
import type { World } from "../world/world.ts";
import { type DemoRequest, requests } from "./requests.ts";

/** A world in which time passes at once. */
export const fastWorld = (): World =>
  makeWorld({ now: Date.now, later: (_milliseconds, work) => void setImmediate(work) });

export const isEndpoint = (name: string): name is EndpointName => name in endpoints;

function requestFor(name: EndpointName, { params = {}, query = {}, body }: DemoRequest): Request {
  const { method, path } = endpoints[name];
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, field) => encodeURIComponent(params[field] ?? ""));
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  return new Request(`https://demo.example/v2${filled}?${new URLSearchParams(query)}`, { method, ...text });
}

export interface Sent {
  readonly status: number;
  /** JSON, or a text of another kind. */
  readonly body: unknown;
}

/** Sends that request. */
export async function send(world: World, name: EndpointName, request: DemoRequest): Promise<Sent> {
  const response = await answer(world, requestFor(name, request));
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
  return { status: response.status, body: isJson ? JSON.parse(text) : text };
}

/** Sends the request for that endpoint, after the requests that it depends on. */
export async function sendKnown(world: World, name: string): Promise<Sent> {
  const request = requests[name];
  if (request === undefined || !isEndpoint(name)) throw new Error(`There is no request for ${name}`);
  for (const earlier of request.after ?? []) {
    await sendKnown(world, earlier);
    await endOfOperations(world);
  }
  return send(world, name, { ...request, ...request.given?.(world) });
}

/** Waits until no operation is running. */
export async function endOfOperations({ operations }: World): Promise<void> {
  while (operations.some(({ state }) => state === "running")) await new Promise(setImmediate);
}
