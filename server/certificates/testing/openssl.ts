/** Generates keys and certificates for tests with `openssl`. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface TestCertificate {
  /** PEM. */
  readonly cert: string;
  /** PEM, PKCS#8. */
  readonly key: string;
}

interface Wanted {
  readonly subject?: string;
  readonly names?: readonly string[];
  /** In `openssl` notation; default `ec:prime256v1`. */
  readonly algorithm?: "ec:prime256v1" | "ec:secp521r1" | "rsa:1024" | "rsa:2048" | "ed25519";
  /** The signer; self-signed by default. */
  readonly by?: TestCertificate;
  readonly isAuthority?: boolean;
  readonly extra?: readonly string[];
}

/**
 * Runs `openssl` in a temporary folder with `files` and returns its output. `IN` in arguments stands for the folder.
 */
export async function openssl(args: readonly string[], files: Readonly<Record<string, string>> = {}): Promise<string> {
  return inFolder(
    files,
    async (folder) =>
      (
        await run(
          "openssl",
          args.map((each) => each.replace("IN", folder)),
        )
      ).stdout,
  );
}

/** Creates a certificate that is valid for thirty days from now. */
export async function makeCertificate(wanted: Wanted = {}): Promise<TestCertificate> {
  const { subject = "/CN=test", names = [], algorithm = "ec:prime256v1", by, isAuthority = false, extra = [] } = wanted;
  const [kind = "", detail = ""] = algorithm.split(":");
  const size = kind === "rsa" ? ["-pkeyopt", `rsa_keygen_bits:${detail}`] : ["-pkeyopt", `ec_paramgen_curve:${detail}`];
  const altNames = names.map((name) => (/^[0-9.]+$/.test(name) ? `IP:${name}` : `DNS:${name}`)).join(",");
  const files: Record<string, string> = by ? { "by.pem": by.cert, "by.key": by.key } : {};
  return inFolder(files, async (folder) => {
    const key = join(folder, "key.pem");
    await run("openssl", ["genpkey", "-algorithm", kind.toUpperCase(), ...(detail === "" ? [] : size), "-out", key]);
    const { stdout } = await run("openssl", [
      ...["req", "-x509", "-new", "-key", key, "-subj", subject],
      ...["-days", "30"],
      ...["-addext", `basicConstraints=critical,CA:${isAuthority ? "TRUE" : "FALSE"}`],
      ...(altNames === "" ? [] : ["-addext", `subjectAltName=${altNames}`]),
      ...(by ? ["-CA", join(folder, "by.pem"), "-CAkey", join(folder, "by.key")] : []),
      ...extra,
    ]);
    return { cert: stdout, key: await readFile(key, "utf8") };
  });
}

async function inFolder<Result>(
  files: Readonly<Record<string, string>>,
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), "swtls-"));
  try {
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content, { mode: 0o600 });
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
