/** What PHP learns about a request: `$_SERVER`, and the headers that may be in it. The same with every engine. */
import { siteFolder } from "../phpFolders.ts";
import type { WorkerRequest } from "./worker.ts";

/** Headers that visitors must not set: `proxy` would become `HTTP_PROXY`, which programs take for a setting. */
const refusedHeaders = new Set(["proxy"]);

/**
 * Decodes a header value. Values have one character per byte; PHP gets text that encodes to the same bytes if they are
 * UTF-8.
 */
function asText(value: string): string {
  return /^[\x20-\x7e\t]*$/.test(value) ? value : Buffer.from(value, "latin1").toString("utf8");
}

/** The headers that PHP gets, by their lower-case names. */
export function headersForPhp(request: Pick<WorkerRequest, "headers">): Record<string, string> {
  const entries = Object.entries(request.headers).flatMap(([name, value]) => {
    // Names with underscores could become the same variable as another header.
    if (refusedHeaders.has(name) || name.includes("_")) return [];
    const joined = typeof value === "string" ? value : value.join(name === "cookie" ? "; " : ", ");
    return [[name, asText(joined)] as const];
  });
  return Object.fromEntries(entries);
}

/**
 * Splits the `Host` header. Visitors can send anything here, so nothing may throw: that would look like a PHP crash.
 */
function readHost(host: string): { readonly hostname: string; readonly port: string } {
  const [, hostname = "", port = ""] = /^(.*?)(?::(\d*))?$/.exec(host) ?? [];
  return { hostname: hostname.toLowerCase() || "localhost", port };
}

/** Returns the `$_SERVER` variables of a request, except those of its headers, URL and body. */
export function requestVariables(
  request: Pick<WorkerRequest, "script" | "pathInfo" | "headers" | "remoteAddress" | "https">,
): Record<string, string> {
  const { hostname, port } = readHost(headersForPhp(request).host ?? "");
  const standardPort = request.https ? "443" : "80";
  return {
    ...serverVariables(request.script, request.pathInfo),
    REMOTE_ADDR: request.remoteAddress,
    SERVER_NAME: hostname,
    SERVER_PORT: port || standardPort,
    SERVER_PROTOCOL: "HTTP/1.1",
    REQUEST_SCHEME: request.https ? "https" : "http",
    // The library turns any text here into "on", even "off".
    ...(request.https ? { HTTPS: "on" } : {}),
  };
}

/** Returns the `$_SERVER` variables that don't depend on the request. */
export function serverVariables(script: string, pathInfo: string): Record<string, string> {
  return {
    DOCUMENT_ROOT: siteFolder,
    SCRIPT_FILENAME: `${siteFolder}${script}`,
    SCRIPT_NAME: script,
    PHP_SELF: `${script}${pathInfo}`,
    SERVER_SOFTWARE: "Sitewright",
    GATEWAY_INTERFACE: "CGI/1.1",
    ...(pathInfo === "" ? {} : { PATH_INFO: pathInfo }),
  };
}
