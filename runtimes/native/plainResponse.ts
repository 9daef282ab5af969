/** Short responses of the engine itself. */
import { Readable } from "node:stream";
import type { FastCgiResponse } from "./fastcgi/connection.ts";

/** Returns a complete response, whose body has no end yet. */
export function plainResponse(status: number, text: string): FastCgiResponse {
  const body = new Readable({ read: () => undefined });
  body.push(text);
  const headers = [["content-type", "text/plain; charset=utf-8"]] as const;
  return { status, headers, body, finished: Promise.resolve(true) };
}
