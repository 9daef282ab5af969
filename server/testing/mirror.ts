/** Serves a folder of packages as a mirror, on a free loopback port. */
import { mkdir } from "node:fs/promises";
import { makeMirror } from "../packages/mirror.ts";

export interface TestMirror extends AsyncDisposable {
  readonly url: string;
}

export async function startTestMirror(folder: string): Promise<TestMirror> {
  await mkdir(folder, { recursive: true });
  const server = makeMirror(folder);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The mirror has no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
