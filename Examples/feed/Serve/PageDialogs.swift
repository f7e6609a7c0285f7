/// The enlarged view of an image, which the script fills, and the help, which the script opens.
enum PageDialogs {
  static let markup = """
    <dialog id="large" aria-label="An image">
    <div id="stage"></div><p class="reason" role="status"></p>
    <button class="turn" type="button" value="previous" aria-label="Previous">‹</button>\
    <button class="turn" type="button" value="next" aria-label="Next" autofocus>›</button>\
    <button id="close" type="button" value="close" aria-label="Close">×</button>
    <div id="about"><div><p class="title"></p><p class="words" tabindex="0"></p><p class="meta"></p></div>
    <div class="tools"><a class="post" rel="noreferrer" target="_blank">Open post</a><a class="original" target="_blank">Original</a>\
    <a class="download" download>Download</a><button type="button" value="star" aria-pressed="false">★ Star</button>\
    <button type="button" value="far" aria-label="Smaller">−</button><button type="button" value="near" aria-label="Larger">+</button>\
    <button type="button" value="full">Full screen</button></div></div>
    </dialog>
    <dialog id="help" aria-labelledby="keys"><h2 id="keys">Keys</h2><dl>
    <dt>← → h l</dt><dd>previous, next image</dd>
    <dt>↑ ↓ j k</dt><dd>the row above, below; in the enlarged view: the previous, next post</dd>
    <dt>Home, End</dt><dd>the first, last image</dd>
    <dt>Enter, Esc</dt><dd>enlarge, close</dd>
    <dt>+ − 0</dt><dd>zoom in, zoom out, fit; the arrows move a zoomed image</dd>
    <dt>o</dt><dd>open the post</dd>
    <dt>s</dt><dd>star or unstar; starred items are kept</dd>
    <dt>/</dt><dd>search</dd>
    <dt>f</dt><dd>full screen</dd>
    <dt>?</dt><dd>this help</dd></dl>
    <button type="button" value="close">Close</button></dialog>
    """
}
