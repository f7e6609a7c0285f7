let page = """
  <!doctype html><title>Live</title><ul></ul><script>
  new EventSource("/events").addEventListener("said", (event) => {
    const line = document.createElement("li");
    line.textContent = event.data;
    document.querySelector("ul").append(line);
  });
  </script>
  """
