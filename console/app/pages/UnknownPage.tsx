import { Text } from "@mantine/core";
import { ButtonLink } from "../parts/ButtonLink.tsx";
import { Narrow } from "../parts/Narrow.tsx";
import { texts } from "../texts.ts";

export function UnknownPage() {
  return (
    <Narrow title={texts.unknownPage}>
      <Text>{texts.unknownPageHint}</Text>
      <ButtonLink to="/">{texts.toHome}</ButtonLink>
    </Narrow>
  );
}
