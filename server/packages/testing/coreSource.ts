/** A package source that offers one version of WordPress and sends any content for it. */
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import { openPackageSource, type PackageSource } from "../source.ts";
import { listening } from "./listening.ts";

/** Runs until the test has ended. */
export async function coreSource(version: string, send: (response: ServerResponse) => void): Promise<PackageSource> {
  const answer: RequestListener = (request, response) => {
    if (request.url === "/wordpress.zip") return send(response);
    const download = `http://${request.headers.host}/wordpress.zip`;
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify({ offers: [{ response: "upgrade", version, download, packages: { full: download } }] }),
    );
  };
  return openPackageSource(await listening(createServer(answer)));
}
