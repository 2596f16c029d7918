// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.peers;

import io.isolde.bench.nodes.ChildControl;
import java.util.Map;

/** Omid's status oracle as a child process, on the class path of Omid, not of this module. */
final class OmidMain {

  private OmidMain() {}

  public static void main(String[] arguments) throws ReflectiveOperationException {
    ChildControl.start(Map.of());
    Class.forName("org.apache.omid.tso.TSOServer")
        .getMethod("main", String[].class)
        .invoke(null, (Object) arguments);
  }
}
