// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import java.util.Optional;
import java.util.function.BiFunction;
import picocli.CommandLine.Option;

/** The options that say as whom to ask. */
final class Login {
  @Option(
      names = "--user",
      paramLabel = "NAME",
      description = "Who asks, if the node wants to know.")
  private String user;

  @Option(
      names = "--password",
      paramLabel = "PASSWORD",
      arity = "0..1",
      interactive = true,
      description = "Asked for if it is left out behind the option.")
  private String password;

  /** The name and the password, if there is a name. */
  <C> Optional<C> credentials(BiFunction<String, String, C> of) {
    return Optional.ofNullable(user).map(name -> of.apply(name, password == null ? "" : password));
  }
}
