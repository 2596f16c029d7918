// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.mail;

import io.isolde.bench.nodes.ChildControl;
import io.isolde.mail.server.MailProcess;
import java.util.Map;

/** The mail server that users start, as a child process. */
final class MailMain {
  private MailMain() {}

  /** Argument: the folder with its settings. */
  public static void main(String[] arguments) throws Exception {
    ChildControl.start(Map.of());
    MailProcess.main(arguments);
  }
}
