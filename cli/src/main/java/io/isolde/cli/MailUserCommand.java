// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import com.datastax.oss.driver.api.core.DriverException;
import io.isolde.mail.server.MailFolder;
import io.isolde.mail.server.MailStorage;
import java.io.IOException;
import java.io.PrintWriter;
import java.security.GeneralSecurityException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code isolde mail user …}. */
@Command(name = "user", description = "Users of the mail server.")
final class MailUserCommand {

  @Spec private CommandSpec spec;

  @Command(description = "Add a user, who can log in at once.")
  void add(
      @Mixin Home home,
      @Parameters(paramLabel = "NAME", description = "A name, or an address with its domain.")
          String name,
      @Option(
              names = "--password",
              paramLabel = "PASSWORD",
              arity = "0..1",
              interactive = true,
              required = true,
              description = "Asked for if it is left out behind the option.")
          String password) {
    MailFolder folder = MailCommand.folder(home);
    if (!folder.exists()) {
      throw new CommandFailedException(
          "There is no mail server yet. Start one: `isolde mail start`.");
    }
    try {
      MailFolder.Settings settings = folder.read();
      try (MailStorage storage =
          MailStorage.open(settings.place(), settings.domain(), settings.passwordIterations())) {
        String address = storage.parts().logins().address(name);
        boolean isNew = storage.users().add(address, password);
        if (!isNew) {
          throw new CommandFailedException("There is a user %s already.".formatted(address));
        }
        PrintWriter out = spec.commandLine().getOut();
        out.printf("%s can log in.%n", address);
        out.flush();
      }
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    } catch (IOException | GeneralSecurityException | DriverException e) {
      throw new CommandFailedException("The user is not added: " + e.getMessage(), e);
    }
  }
}
