// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.login;

import java.util.Optional;

/** The users of a mail server, by their addresses in lower case. For all threads. */
public interface MailUsers {

  /**
   * Returns the hash of the password of a user, as {@link PasswordHash} writes it; none if there is
   * no such user.
   */
  Optional<String> passwordHash(String address);

  /** Whether there is such a user. */
  default boolean exists(String address) {
    return passwordHash(address).isPresent();
  }
}
