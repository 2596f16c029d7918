// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.charts;

import io.isolde.cluster.ToolException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.knowm.xchart.VectorGraphicsEncoder;
import org.knowm.xchart.VectorGraphicsEncoder.VectorGraphicsFormat;
import org.knowm.xchart.internal.chartpart.Chart;
import org.knowm.xchart.style.Styler;

/** What a report looks like. */
public interface Picture {
  int WIDTH = 640;
  int HEIGHT = 420;

  /** Its name, without the ending. */
  String file();

  /** What is drawn. */
  Chart<?, ?> chart();

  /** Writes it into a folder as SVG. */
  default void write(Path folder) {
    Chart<?, ?> chart = chart();
    chart.getStyler().setLegendPosition(Styler.LegendPosition.OutsideS);
    chart.getStyler().setLegendLayout(Styler.LegendLayout.Horizontal);
    Path target = folder.resolve(file());
    try {
      Files.createDirectories(folder);
      VectorGraphicsEncoder.saveVectorGraphic(chart, target.toString(), VectorGraphicsFormat.SVG);
    } catch (IOException e) {
      throw new ToolException("The figure can't be written to %s: %s.".formatted(target, e), e);
    }
  }
}
