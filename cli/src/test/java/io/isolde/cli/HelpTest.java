// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;

/**
 * What the help of all commands says. A list of commands shows the first line of each description
 * and no more, so each line has to be made of whole sentences.
 */
class HelpTest {

  static Stream<CommandLine> commands() {
    return withSubcommands(Main.commandLine());
  }

  private static Stream<CommandLine> withSubcommands(CommandLine command) {
    return Stream.concat(
        Stream.of(command),
        command.getSubcommands().values().stream().flatMap(HelpTest::withSubcommands));
  }

  @ParameterizedTest
  @MethodSource("commands")
  void whenACommandIsDescribedThenEachLineEndsASentence(CommandLine command) {
    assertThat(command.getCommandSpec().usageMessage().description())
        .as(command.getCommandSpec().qualifiedName())
        .isNotEmpty()
        .allSatisfy(HelpTest::assertWhole);
  }

  @ParameterizedTest
  @MethodSource("commands")
  void whenSubcommandsAreListedThenEachIsShownWithItsWholeFirstSentence(CommandLine command) {
    String help = words(command.getUsageMessage(Ansi.OFF));
    command
        .getSubcommands()
        .values()
        .forEach(
            subcommand -> {
              String first = subcommand.getCommandSpec().usageMessage().description()[0];
              assertThat(help).contains(words(first.formatted()));
            });
  }

  @ParameterizedTest
  @MethodSource("commands")
  void whenOptionsAreDescribedThenTheirDescriptionsEndASentence(CommandLine command) {
    Stream.concat(
            command.getCommandSpec().options().stream(),
            command.getCommandSpec().positionalParameters().stream())
        .filter(argument -> !argument.hidden())
        .forEach(
            argument ->
                assertThat(List.of(argument.description()))
                    .as("%s %s", command.getCommandSpec().qualifiedName(), argument)
                    .isNotEmpty()
                    .allSatisfy(HelpTest::assertWhole));
  }

  private static void assertWhole(String line) {
    assertThat(line).matches("(?s)\\S.*[.:]");
  }

  private static String words(String text) {
    return text.replaceAll("\\s+", " ");
  }
}
