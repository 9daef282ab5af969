/** Opens the archives where they are. */
import type { Blobs } from "./blobs.ts";
import { openFolderBlobs } from "./folderBlobs.ts";
import { namingFailures } from "./namedFailures.ts";
import type { S3Place } from "./s3Blobs.ts";

type BlobsLocation = { readonly kind: "folder"; readonly folder: string } | (S3Place & { readonly kind: "s3" });

/** What speaks to object stores is loaded only for one. */
export async function openBlobs(location: BlobsLocation): Promise<Blobs> {
  if (location.kind === "folder") return namingFailures(openFolderBlobs(location.folder));
  const { openS3Blobs } = await import("./s3Blobs.ts");
  return openS3Blobs(location);
}
