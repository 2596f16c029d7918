// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import io.isolde.oracle.configuration.ConfigurationReport;
import io.isolde.oracle.configuration.ConfigurationState;
import io.isolde.oracle.configuration.Effect;
import java.util.UUID;

/**
 * Opens and ends sessions, with all that hangs on them. A node is up in the configuration as long
 * as its coordinator has a session, so nobody needs to watch it besides.
 */
final class OpenSessions {
  private final Sessions sessions;
  private final StagedWrites staged;
  private final ConfigurationState configuration;

  OpenSessions(Sessions sessions, StagedWrites staged, ConfigurationState configuration) {
    this.sessions = sessions;
    this.staged = staged;
    this.configuration = configuration;
  }

  Answer open(Command.OpenSession open, long timeMicros) {
    UUID coordinator = open.coordinator();
    Sessions.Session known = sessions.of(coordinator).orElse(null);
    if (known != null && open.generation() < known.generation()) {
      return Answer.Fenced.INSTANCE;
    }
    if (known != null && open.generation() == known.generation()) {
      return new Answer.SessionOpened(known.number());
    }
    if (known != null) {
      close(known.number());
    }
    long number = sessions.open(coordinator, open.generation()).number();
    configuration.sessionChanged(coordinator, true, timeMicros);
    return new Answer.SessionOpened(number);
  }

  void fence(long session, long timeMicros) {
    Sessions.Session known = sessions.get(session);
    if (known != null) {
      close(session);
      configuration.sessionChanged(known.coordinator(), false, timeMicros);
    }
  }

  private void close(long session) {
    sessions.close(session);
    staged.dropAll(session);
  }

  Answer configure(ConfigurationReport report, long timeMicros) {
    Effect effect = configuration.apply(report, timeMicros, host -> sessions.of(host).isPresent());
    return new Answer.Configured(
        effect, configuration.version(), configuration.generationOf(report.entry()));
  }
}
