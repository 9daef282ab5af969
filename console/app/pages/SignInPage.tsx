import { Text } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { Narrow } from "../parts/Narrow.tsx";
import { ProviderButton } from "../parts/ProviderButton.tsx";
import { SignInForm } from "../parts/SignInForm.tsx";
import { texts } from "../texts.ts";

/** `next`: the address that was asked for before. */
export function SignInPage({ next }: { readonly next: string }) {
  const navigate = useNavigate();
  return (
    <Narrow title={`${texts.signIn.title} · ${texts.product}`}>
      <SignInForm done={() => void navigate({ to: next })}>
        <ProviderButton purpose="sign_in" next={next} label={texts.provider.signIn} />
      </SignInForm>
      <Text size="xs" c="dimmed">
        {texts.signIn.firstTime}
      </Text>
    </Narrow>
  );
}
