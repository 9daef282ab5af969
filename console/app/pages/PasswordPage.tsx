import { Text } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useSignedIn } from "../api/session.ts";
import { Narrow } from "../parts/Narrow.tsx";
import { PasswordForm } from "../parts/PasswordForm.tsx";
import { texts } from "../texts.ts";

/** The first page of somebody whose password was given to them. */
export function PasswordPage({ next }: { readonly next: string }) {
  const navigate = useNavigate();
  const session = useSignedIn();
  return (
    <Narrow title={texts.password.title}>
      <Text size="sm">{texts.password.first}</Text>
      <PasswordForm email={session?.user.email ?? ""} done={() => void navigate({ to: next })} />
    </Narrow>
  );
}
