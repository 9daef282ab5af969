/** Something to know that is no failure of what the reader did. */
import { Alert } from "@mantine/core";
import type { ReactNode } from "react";

export function Notice({ children }: { readonly children: ReactNode }) {
  return (
    <Alert color="yellow" variant="light" styles={{ message: { color: "var(--mantine-color-text)" } }}>
      {children}
    </Alert>
  );
}
