// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Each file in {@code transcripts} tells a story; the oracle must give the answers written there.
 */
class TranscriptTest {
  @TestFactory
  Stream<DynamicTest> whenATranscriptIsRunThenTheAnswersAreAsWritten() throws Exception {
    return transcripts().map(file -> DynamicTest.dynamicTest(nameOf(file), () -> check(file)));
  }

  private static Stream<Path> transcripts() throws IOException, URISyntaxException {
    Path directory = Path.of(TranscriptTest.class.getResource("transcripts").toURI());
    try (Stream<Path> files = Files.list(directory)) {
      return files.sorted().toList().stream();
    }
  }

  private static String nameOf(Path file) {
    return file.getFileName().toString();
  }

  private static void check(Path file) {
    try {
      assertThat(Transcript.run(Files.readAllLines(file))).isEqualTo(Files.readString(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
