// SPDX-License-Identifier: Apache-2.0
package io.isolde.install;

import java.util.Optional;
import org.apache.cassandra.utils.FBUtilities;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Which Cassandra the tests run on: Isolde uses internals, which any version may change. */
public final class TestedVersion {
  private static final Logger logger = LoggerFactory.getLogger(TestedVersion.class);

  /** That of the build. */
  static final String TESTED = "5.0.6";

  private TestedVersion() {}

  /** Tells the log if this is another one. */
  public static void logIfAnother() {
    warning(FBUtilities.getReleaseVersionString()).ifPresent(sentence -> logger.warn(sentence));
  }

  static Optional<String> warning(String running) {
    return running.equals(TESTED)
        ? Optional.empty()
        : Optional.of(
            ("This is Cassandra %s. Isolde was tested with %s: try your application before you rely"
                    + " on it.")
                .formatted(running, TESTED));
  }
}
