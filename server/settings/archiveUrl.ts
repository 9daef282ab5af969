/** Where archives are, as an operator names it in one line. Loads nothing heavy: every process reads the settings. */
import { stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";

export type ArchivePlace =
  | { readonly kind: "folder"; readonly folder: string }
  | {
      readonly kind: "s3";
      /** `https://host:port`. */
      readonly endpoint: string;
      readonly bucket: string;
      /** Folders, with a slash at the end; or empty. */
      readonly prefix: string;
      readonly region: string | null;
      readonly accessKeyId: string;
      readonly secretAccessKey: string;
    };

/**
 * The address is wrong. The message says what is, and repeats no part of the address: where one is wrong, any part of it
 * may be a piece of the secret.
 */
export class ArchiveUrlError extends Error {
  override readonly name = "ArchiveUrlError";
}

/** What is accepted, in words for errors and documentation. */
export const archiveUrlForm =
  "s3://KEY:SECRET@host:port/bucket/folder?region=REGION&tls=off (port, folder, region and tls may be left out; / ? # @ : % in key and secret are written %2F %3F %23 %40 %3A %25) or file:///folder";

const keyPattern = /^[!-~]+$/;
const bucketPattern = /^[0-9A-Za-z][0-9A-Za-z._-]{1,62}$/;
/** Letters that are the same in a URL and in what is signed; none that begins with a dot, so that none leads elsewhere. */
const folderPattern = /^[0-9A-Za-z_-][0-9A-Za-z._-]*$/;
const regionPattern = /^[0-9A-Za-z-]+$/;

/** `text` is of the form above; null stands for `usualFolder`. Throws `ArchiveUrlError`. */
export function parseArchiveUrl(text: string | null, usualFolder: string): ArchivePlace {
  if (text === null) return { kind: "folder", folder: usualFolder };
  // The error that `new URL` throws has the whole text in it.
  const url = URL.parse(text);
  if (url === null)
    return wrong("can't be read as a URL: perhaps there is a letter in key or secret to be written with %");
  if (url.protocol === "file:") return parseFolder(url);
  if (url.protocol === "s3:") return parseS3(url);
  return wrong("begins with neither s3:// nor file://");
}

/** Without any secret. */
export function nameOfPlace(place: ArchivePlace): string {
  if (place.kind === "folder") return `the folder ${place.folder}`;
  const folder = place.prefix === "" ? "" : `, folder ${place.prefix.replace(/\/$/, "")}`;
  return `the bucket ${place.bucket} at ${place.endpoint}${folder}`;
}

/** Where it is a folder, whether that is there. A bucket says so itself. */
export async function isPlaceThere(place: ArchivePlace): Promise<boolean> {
  if (place.kind !== "folder") return true;
  return (await stat(place.folder).catch(() => null))?.isDirectory() ?? false;
}

function wrong(what: string): never {
  throw new ArchiveUrlError(`The archive's address ${what}. Accepted: ${archiveUrlForm}.`);
}

function parseFolder(url: URL): ArchivePlace {
  if (url.host !== "") wrong("names a host before its folder: a folder's has three slashes");
  if (url.search !== "" || url.hash !== "") wrong("has a ? or # in it, which a folder's is to be written with %");
  if (url.pathname === "/") wrong("names no folder");
  try {
    return { kind: "folder", folder: fileURLToPath(url) };
  } catch {
    return wrong("names a folder that can't be read");
  }
}

function parseS3(url: URL): ArchivePlace {
  if (url.hash !== "") wrong("has a # in it, which in key and secret is written %23");
  const [bucket = "", ...folders] = url.pathname.replace(/^\/|\/$/g, "").split("/");
  const { region, endpoint } = parseStore(url);
  const accessKeyId = decoded(url.username, "key");
  const secretAccessKey = decoded(url.password, "secret");
  if (!bucketPattern.test(bucket)) wrong("names no bucket, or one with other letters than a to z, 0 to 9, . _ -");
  if (!folders.every((folder) => folderPattern.test(folder))) {
    wrong("names a folder with other letters than a to z, 0 to 9, . _ -, or one that begins with a dot");
  }
  const prefix = folders.map((folder) => `${folder}/`).join("");
  return { kind: "s3", endpoint, bucket, prefix, region, accessKeyId, secretAccessKey };
}

function parseStore(url: URL): { readonly endpoint: string; readonly region: string | null } {
  const settings = new Map(url.searchParams);
  if ([...settings.keys()].some((name) => name !== "region" && name !== "tls"))
    wrong("has a setting other than region and tls");
  const region = settings.get("region") ?? null;
  if (region !== null && !regionPattern.test(region)) wrong("names a region with other letters than a to z, 0 to 9, -");
  const tls = settings.get("tls") ?? null;
  if (tls !== null && tls !== "off") wrong("sets tls to something else than off");
  const endpoint = URL.parse(`${tls === null ? "https" : "http"}://${url.host}`);
  if (endpoint === null) return wrong("names no host that can be read");
  return { endpoint: endpoint.origin, region };
}

/** `text` is percent-encoded. */
function decoded(text: string, what: "key" | "secret"): string {
  if (text === "") wrong(`has no ${what}`);
  const value = decodedOrNull(text);
  if (value === null) return wrong(`has a % in its ${what} that is followed by no number: a % itself is written %25`);
  if (!keyPattern.test(value)) wrong(`has a ${what} with a letter that no ${what} has`);
  return value;
}

function decodedOrNull(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
