/** Where the content of backups is kept: what every store of archives offers. */

/** `name` is `<environment>/<archive>`, both of letters, digits and hyphens. */
export interface Archives {
  /** Keeps what is in `folder`, whole or not at all; again under the same name it replaces. Gives its size in bytes. */
  put(name: string, folder: string, signal: AbortSignal): Promise<number>;
  /** Tolerates that there is none. */
  remove(name: string): Promise<void>;
  /** Removes every archive of the environment. */
  removeAll(environmentId: string): Promise<void>;
  /** Path of a folder for what is about to be kept; it does not exist yet. The same for the same name. */
  workFolder(name: string): Promise<string>;
  removeWorkFolder(name: string): Promise<void>;
}
