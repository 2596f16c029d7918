// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

/** Something that goes wrong for a while. */
interface Fault {
  /** What it is and whom it hits, or what came of it, for people. */
  String name();

  /** Lets it happen. */
  void begin();

  /** Ends it, and waits until the nodes that it hit answer again. */
  void end();
}
