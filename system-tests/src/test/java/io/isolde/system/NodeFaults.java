// SPDX-License-Identifier: Apache-2.0
package io.isolde.system;

import io.isolde.cluster.LocalNode;
import io.isolde.cluster.NodeSpec;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;

/** Nodes that die or fail on request in the middle of a snapshot, or of a TRUNCATE. */
public final class NodeFaults {
  private static final Path AGENT = TestFork.file("fault-agent.jar").toAbsolutePath();

  private NodeFaults() {}

  /** The node with the {@link FaultAgent} in it. */
  public static NodeSpec allowedBy(NodeSpec spec) {
    writeAgent();
    return spec.withClassesOf(FaultAgent.class).withJvmOption("-javaagent:" + AGENT);
  }

  /** The jar only says which class is the agent. */
  private static void writeAgent() {
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().putValue("Premain-Class", FaultAgent.class.getName());
    try {
      new JarOutputStream(Files.newOutputStream(AGENT), manifest).close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** From now on the node halts, or fails, at a step: {@code LOAD:halt}; empty for no more. */
  public static void set(LocalNode node, String fault) {
    if (!node.spec().jvmOptions().contains("-javaagent:" + AGENT)) {
      throw new IllegalArgumentException("The node can't fail: it has no agent.");
    }
    try {
      Files.writeString(node.folder().resolve(FaultAgent.FILE), fault);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
