/** Lengths of time in seconds. */
export const minute = 60;
export const hour = 60 * minute;
