// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** {@code isolde demo} without a node: its options, and how it tells what holds. */
class DemoCommandTest {

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private final DemoScript script = new DemoScript(new PrintWriter(out));

  @Test
  void whenTheTimeIsTooLongThenASentenceSaysWhatIsPossible() {
    CommandLine commandLine = Main.commandLine();
    commandLine.setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    assertThat(commandLine.execute("demo", "--seconds=600")).isEqualTo(2);
    assertThat(err.toString()).contains("1 to 60 seconds");
  }

  @Test
  void whenAllClaimsHoldThenTheDemoSucceeds() {
    script.check(true, "The sum is 800.", "The sum is wrong.");
    assertThat(script.allHeld()).isTrue();
    assertThat(out.toString()).contains("[holds] The sum is 800.").doesNotContain("wrong");
  }

  @Test
  void whenOneClaimIsBrokenThenLaterOnesDoNotMendIt() {
    script.check(false, "The sum is 800.", "The sum is 799.");
    script.check(true, "Fine.", "Not fine.");
    assertThat(script.allHeld()).isFalse();
    assertThat(out.toString()).contains("[BROKEN] The sum is 799.").doesNotContain("800");
  }

  @Test
  void whenAnErrorIsLongThenItIsBrokenBetweenWords() {
    script.quote("word ".repeat(60).strip());
    assertThat(out.toString().lines()).hasSizeGreaterThan(3).allMatch(l -> l.length() <= 80);
    assertThat(out.toString().replaceAll("[|\\s]+", " ").strip())
        .isEqualTo("word ".repeat(60).strip());
  }
}
