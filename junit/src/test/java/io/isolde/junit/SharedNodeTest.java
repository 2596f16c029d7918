// SPDX-License-Identifier: Apache-2.0
package io.isolde.junit;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.cluster.LocalNode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A second class on the same node, which names the extension itself. */
@ExtendWith(IsoldeExtension.class)
class SharedNodeTest {
  @Test
  void whenClassesShareANodeThenItIsOneProcessAndEachHasAKeyspaceOfItsOwn(
      LocalNode node, CqlSession session) {
    IsoldeTestTest.compareWithOther(node, session);
  }
}
