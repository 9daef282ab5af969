/** Errors in the format of the API, for requests that do not reach it. */
import type { MadePage } from "../http/pages.ts";

export function errorPage(
  status: number,
  message: string,
  headers: Readonly<Record<string, string | number>> = {},
): MadePage {
  const body = `${JSON.stringify({ message, status, data: null })}\n`;
  return {
    status,
    headers: {
      "content-type": "application/json; charset=utf-8",
      "content-length": Buffer.byteLength(body),
      "cache-control": "no-store",
      ...headers,
    },
    body,
  };
}
