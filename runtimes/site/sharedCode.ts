/** The parts of WordPress that all environments share. */

/** Folders of the web root that come from the asset store and are read-only. */
export const sharedFolders = ["wp-admin", "wp-includes"] as const;
